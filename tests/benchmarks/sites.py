"""Generated sites for the benchmarks: ``python tests/benchmarks/sites.py large|flat|rack FOLDER``.

``large``: 100 pods, each 8 rail leaves and 80 servers with 8 rails, below 200 spines: 1,000 switches, 8,000 servers,
168,000 cabled ports, written with bracket ranges. ``flat``: the same with one entry per device, as an export from
another tool would be. ``rack``: 2 leaves and 32 servers with 8 rails at 100G.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

PODS, RAILS, SERVERS, SPINES, UPLINKS = 100, 8, 80, 200, 25

_NETWORKS = """\
networks:
  backend: {profile: ai-training, ports: {role: [rail, fabric]}}
"""

_SERVER_PORTS = """\
      rail[0-7]: {role: rail, speed: 400G, nic: ConnectX-7, netdev: "ens{n}np0", rdma: "mlx5_{n}"}
"""


def large(root: Path, flat: bool = False) -> None:
    """1,000 switches and 8,000 servers."""
    groups = f"""\
spine:
  platform: arista_eos
  data:
    role: spine
    asic: Tomahawk 5
    ports:
      Ethernet[1-128]/1: {{role: fabric, speed: 400G}}
leaf-eos:
  platform: arista_eos
  data:
    role: leaf
    asic: Tomahawk 5
    ports:
      Ethernet[1-80]/1: {{role: rail, speed: 400G}}
      Ethernet[81-105]/1: {{role: fabric, speed: 400G}}
leaf-sonic:
  platform: sonic
  data:
    role: leaf
    asic: Tomahawk 5
    buffer_model: traditional
    ports:
      Ethernet[8-640:8]: {{role: rail, speed: 400G}}
      Ethernet[648-840:8]: {{role: fabric, speed: 400G}}
gpu:
  platform: linux
  data:
    role: gpu
    ports:
{_SERVER_PORTS}"""
    hosts = _flat_hosts() if flat else _ranged_hosts()
    links = """\
- {a: "leaf{p:03}-{r}:Ethernet{h}/1", b: "gpu{p:03}-{h:02}:rail{r}", for: {p: 1-100, r: 0-3, h: 1-80},
   speed: 400G, medium: dac, length: 2m, role: host}
- {a: "leaf{p:03}-{r}:Ethernet{h*8}", b: "gpu{p:03}-{h:02}:rail{r}", for: {p: 1-100, r: 4-7, h: 1-80},
   speed: 400G, medium: dac, length: 2m, role: host}
- {a: "leaf{p:03}-{r}:Ethernet{80+u}/1", b: "spine{r*25+u:03}:Ethernet{p}/1", for: {p: 1-100, r: 0-3, u: 1-25},
   speed: 400G, medium: dr, length: 50m, role: fabric}
- {a: "leaf{p:03}-{r}:Ethernet{640+u*8}", b: "spine{r*25+u:03}:Ethernet{p}/1", for: {p: 1-100, r: 4-7, u: 1-25},
   speed: 400G, medium: dr, length: 50m, role: fabric}
"""
    _write(root, groups, "".join(hosts), links)


def _ranged_hosts() -> Iterator[str]:
    yield "spine[001-200]: {groups: [spine]}\n"
    yield "leaf[001-100]-[0-3]: {groups: [leaf-eos]}\n"
    yield "leaf[001-100]-[4-7]: {groups: [leaf-sonic]}\n"
    yield "gpu[001-100]-[01-80]: {groups: [gpu]}\n"


def _flat_hosts() -> Iterator[str]:
    for number in range(1, SPINES + 1):
        yield f"spine{number:03}:\n  hostname: 10.0.0.{number}\n  groups: [spine]\n"
    for pod in range(1, PODS + 1):
        for rail in range(RAILS):
            kind = "eos" if rail < RAILS // 2 else "sonic"
            yield f"leaf{pod:03}-{rail}:\n  hostname: 10.1.{pod}.{rail}\n  groups: [leaf-{kind}]\n"
        for server in range(1, SERVERS + 1):
            yield f"gpu{pod:03}-{server:02}:\n  hostname: 10.2.{pod}.{server}\n  groups: [gpu]\n"


def rack(root: Path) -> None:
    """2 leaves and 32 servers."""
    groups = f"""\
eos:
  platform: arista_eos
  data:
    role: leaf
    model: DCS-7060DX4-32
    asic: Tomahawk 3
    os_version: 4.36.0F
    ports: {{"Ethernet[1-32]/[1-4]": {{role: rail, speed: 100G}}}}
sonic:
  platform: sonic
  data:
    role: leaf
    hwsku: DellEMC-Z9332f-O32
    asic: Tomahawk 3
    os_version: "202411"
    buffer_model: traditional
    ports: {{"Ethernet[0-254:2]": {{role: rail, speed: 100G}}}}
gpu:
  platform: linux
  data:
    role: gpu
    ports:
{_SERVER_PORTS.replace("400G", "100G")}"""
    hosts = "leaf1: {groups: [eos]}\nleaf2: {groups: [sonic]}\ngpu[01-32]: {groups: [gpu]}\n"
    links = """\
- {a: "leaf1:Ethernet{h}/{r+1}", b: "gpu{h:02}:rail{r}", for: {h: 1-32, r: 0-3}, speed: 100G, medium: dac, length: 2m}
- {a: "leaf2:Ethernet{h*8-8+r*2-8}", b: "gpu{h:02}:rail{r}", for: {h: 1-32, r: 4-7},
   speed: 100G, medium: dac, length: 2m}
"""
    _write(root, groups, hosts, links)


def _write(root: Path, groups: str, hosts: str, links: str) -> None:
    (root / "inventory").mkdir(parents=True, exist_ok=True)
    (root / "rocetune.yaml").write_text(_NETWORKS)
    (root / "inventory" / "groups.yaml").write_text(groups)
    (root / "inventory" / "hosts.yaml").write_text(hosts)
    (root / "inventory" / "links.yaml").write_text(links)


if __name__ == "__main__":
    kind, folder = sys.argv[1], Path(sys.argv[2])
    if kind == "rack":
        rack(folder)
    else:
        large(folder, flat=kind == "flat")
