from __future__ import annotations

from pathlib import Path

import pytest

from tests.platforms.linux.rig import Server


@pytest.fixture(params=["ofed", "inbox"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Server:
    """A server from the factory, once with NVIDIA's driver and tools, once with what a distribution brings."""
    return Server(tmp_path, options={"driver": request.param})


@pytest.fixture
def ofed(tmp_path: Path) -> Server:
    return Server(tmp_path)
