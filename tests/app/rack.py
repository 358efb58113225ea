"""A small rack with one device of each platform, served by a lab in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rocetune.app.applying import apply
from rocetune.app.planning import make_plan
from rocetune.app.workspace import Workspace, open_workspace
from rocetune.lab.clock import ManualClock
from rocetune.lab.serve import LabServer
from rocetune.model.change import Impact
from rocetune.model.outcome import ApplyReport

HOSTS = """\
leaf1:
  hostname: 192.0.2.11
  groups: [eos, leaf]
  data:
    model: DCS-7060DX4-32
    asic: Tomahawk 3
    os_version: 4.36.0F
    ports: {"Ethernet[1-4]/1": {speeds: [100G, 200G, 400G]}}
leaf2:
  hostname: 192.0.2.12
  groups: [sonic, leaf]
  data:
    hwsku: DellEMC-Z9332f-O32
    asic: Tomahawk 3
    os_version: "202411"
    buffer_model: traditional
    ports: {"Ethernet[0-24:8]": {speeds: [100G, 200G, 400G]}}
"gpu[01-0SERVERS]":
  hostname: "192.0.2.{100+n}"
  groups: [gpu]
"""
GROUPS = """\
leaf: {data: {role: leaf}}
eos: {platform: arista_eos}
sonic: {platform: sonic}
gpu:
  platform: linux
  data:
    role: gpu
    ports:
      "rail[0-1]":
        role: rail
        rail: "{n}"
        speed: 400G
        nic: ConnectX-7
        netdev: "ens{11+n}np0"
        rdma: "mlx5_{n}"
        pci: ["0000:1a:00.0", "0000:3c:00.0"]
      mgmt0: {role: mgmt, network: mgmt, manage: none, netdev: eno1}
"""
LINKS = """\
- {a: "leaf1:Ethernet{h}/1", b: "gpu{h:02}:rail0", for: {h: 1-SERVERS}, speed: 400G, medium: dac, length: 2m}
- {a: "leaf2:Ethernet{(h-1)*8}", b: "gpu{h:02}:rail1", for: {h: 1-SERVERS}, speed: 400G, medium: dac, length: 2m}
"""
SETTINGS = "networks:\n  backend: {profile: PROFILE, ports: {role: rail}}\n  mgmt: {profile: none}\n"


def write_site(root: Path, servers: int = 1, profile: str = "ai-training") -> Path:
    """A site folder; shipped profiles are used where the site has none of its own."""
    folder = root / "inventory"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hosts.yaml").write_text(HOSTS.replace("SERVERS", str(servers)))
    (folder / "groups.yaml").write_text(GROUPS)
    (folder / "defaults.yaml").write_text("username: admin\n")
    (folder / "links.yaml").write_text(LINKS.replace("SERVERS", str(servers)))
    (root / "rocetune.yaml").write_text(SETTINGS.replace("PROFILE", profile))
    return root


@dataclass(slots=True)
class Rack:
    """A served rack: the site, the lab behind it, and its clock."""

    root: Path
    lab: LabServer
    clock: ManualClock | None

    @property
    def ws(self) -> Workspace:
        """The site opened with the lab's endpoints, read anew."""
        return open_workspace(self.root, lab=True)

    def apply(self, **options: object) -> ApplyReport:
        """Bring the rack up without questions."""
        settings = {"bring_up": True, "yes_confirm": lambda report: True, "interval_s": 0.1, **options}
        return apply(self.ws, **settings)  # type: ignore[arg-type]


@contextmanager
def rack(
    root: Path, servers: int = 1, profile: str = "ai-training", clock: ManualClock | None = None
) -> Iterator[Rack]:
    """A rack at factory settings, served until the block ends."""
    write_site(root, servers, profile)
    ws = open_workspace(root, lab=True)
    clocks = {"clock": clock} if clock is not None else {}
    with LabServer(make_plan(ws), ws.lab_root, **clocks) as lab:
        yield Rack(root, lab, clock)


ANY_IMPACT = Impact.REBOOT
