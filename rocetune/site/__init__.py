"""The site: what a user writes, read and checked. Start at :func:`rocetune.site.site.load_site`."""

from __future__ import annotations

from rocetune.site.effective import effective
from rocetune.site.errors import SiteError, SiteErrors
from rocetune.site.site import Site, load_site

__all__ = ["Site", "SiteError", "SiteErrors", "effective", "load_site"]
