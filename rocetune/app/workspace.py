"""A site opened for work: its files, its state folder, and where its devices are reached.

``--lab`` is decided here and nowhere else: the same inventory, with the endpoints of the emulated devices laid
over it, and a state folder of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rocetune import platforms
from rocetune.app.errors import UseError
from rocetune.deploy.links import Endpoint
from rocetune.platforms import templating
from rocetune.site import secrets
from rocetune.site.site import Site, load_site

STATE = ".rocetune"


@dataclass(frozen=True, slots=True)
class Workspace:
    """One site and how to reach it. ``root`` is the site folder."""

    root: Path
    site: Site
    lab: bool = False
    workers: int = 16

    @property
    def lab_root(self) -> Path:
        """Where the embedded lab of this site keeps its devices."""
        return self.root / STATE / "lab"

    @property
    def state(self) -> Path:
        """Journals, lock and accepted host keys; the lab's are apart from the real ones."""
        return self.lab_root / "state" if self.lab else self.root / STATE

    @property
    def own_known_hosts(self) -> Path:
        """Host keys accepted with --accept-new-host-keys."""
        return self.state / "known_hosts"

    def endpoint(self, name: str) -> Endpoint:
        """Where a device is reached. Raises UseError when the lab does not run or does not know it."""
        return self._lab_endpoint(name) if self.lab else self._real_endpoint(name)

    def _lab_endpoint(self, name: str) -> Endpoint:
        from rocetune.lab import overlay
        from rocetune.lab.errors import LabError

        try:
            known = overlay.read(self.lab_root)
        except LabError as error:
            raise UseError(str(error), getattr(error, "remedy", "")) from error
        if name not in known:
            raise UseError(
                f"the lab has no {name}", "it was started with another inventory: rocetune lab stop, then lab start"
            )
        item = known[name]
        return Endpoint(
            item.host,
            item.port,
            item.username,
            item.password,
            known_hosts=item.known_hosts,
            ca_file=item.ca_file,
            tls_verify=True,
        )

    def _real_endpoint(self, name: str) -> Endpoint:
        host = self.site.inventory[name]
        eapi = platforms.get(host.platform or "").transport == "napalm:eos"
        options = host.options("napalm" if eapi else "netmiko")
        username = options.pop("username", None) or host.username
        password = options.pop("password", None) or host.password or secrets.from_keyring(name, username)
        user_config = Path.home() / ".ssh" / "config"
        ca_file, key_file = options.pop("ca_file", None), options.pop("key_file", None)
        options.pop("platform", None)
        return Endpoint(
            options.pop("hostname", None) or host.hostname or name,
            options.pop("port", None) or host.port,
            username,
            password.get_secret_value() if password else None,
            ca_file=Path(ca_file).expanduser() if ca_file else None,
            tls_verify=bool(options.pop("tls_verify", True)),
            ssh_config=user_config if user_config.is_file() else None,
            key_file=Path(key_file).expanduser() if key_file else None,
            extras=tuple(sorted(options.items())),
        )


def open_workspace(root: Path, *, inventory: Path | None = None, lab: bool = False) -> Workspace:
    """Load a site. Raises rocetune.site.errors.SiteErrors with every error of its files."""
    templating.use_site(root.resolve() / "templates")
    return Workspace(root.resolve(), load_site(root, inventory), lab)
