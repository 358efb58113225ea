"""What the reference text says of wires, links and timers, and is not part of a headroom or a threshold."""

import pytest

from rocetune.tuning import wire
from rocetune.tuning.asics import table
from rocetune.tuning.cells import packet_factor, wire_worst
from rocetune.tuning.collectives import Operation, bus_factor
from rocetune.tuning.duration import show_us
from rocetune.tuning.watchdog import Timers, sonic_start_default


@pytest.mark.parametrize(("quanta", "size"), [(wire.QUANTA_800G_SONIC, 57_920), (wire.QUANTA_800G, 115_840)])
def test_reaction_at_800g_in_bytes(quanta: int, size: int) -> None:
    """SONiC's 905 quanta are 57,920 B, those of 400G; twice the limit is twice the bytes."""
    assert wire.reaction_quanta(800_000, quanta) * wire.QUANTUM_BYTES == size


@pytest.mark.parametrize(("cell", "frame"), [(96, 97), (144, 145), (192, 64), (254, 64), (420, 64)])
def test_frame_that_wastes_most_cells(cell: int, frame: int) -> None:
    """97 B in cells of 96 and 145 B in cells of 144; from 192 on the smallest frame. Every size is tried."""
    worst = max(range(64, 9217), key=lambda size: packet_factor(cell, size))
    assert worst == frame
    assert packet_factor(cell, frame) == wire_worst(cell)


@pytest.mark.parametrize(
    ("mtu", "rates"),
    [
        (1024, (23.15, 92.59, 185.17, 370.34, 740.69)),
        (2048, (24.04, 96.15, 192.30, 384.60, 769.20)),
        (4096, (24.51, 98.04, 196.07, 392.15, 784.30)),
    ],
)
def test_goodput_of_a_full_link(mtu: int, rates: tuple[float, ...]) -> None:
    """Gbit/s of payload at 25G, 100G, 200G, 400G and 800G, untagged IPv4; the shares are in test_headroom."""
    assert [round(wire.wire_efficiency(mtu) * speed, 2) for speed in (25, 100, 200, 400, 800)] == list(rates)


@pytest.mark.parametrize(
    ("operation", "at_16", "at_64"),
    [
        ("AllReduce", 1.875, 1.96875),
        ("AllGather", 0.9375, 0.984375),
        ("ReduceScatter", 0.9375, 0.984375),
        ("AlltoAll", 0.9375, 0.984375),
        ("Broadcast", 1, 1),
        ("Reduce", 1, 1),
    ],
)
def test_bus_bandwidth(operation: Operation, at_16: float, at_64: float) -> None:
    assert bus_factor(operation, 16) == at_16
    assert bus_factor(operation, 64) == at_64


def test_bus_bandwidth_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="two ranks"):
        bus_factor("AllReduce", 1)
    with pytest.raises(ValueError, match="no operation"):
        bus_factor("Gossip", 8)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ports", "detection", "restoration", "poll"),
    [(32, 200, 200, 200), (64, 400, 400, 400), (512, 3200, 3200, 1000), (1, 200, 200, 200), (33, 400, 400, 400)],
)
def test_watchdog_of_sonic(ports: int, detection: int, restoration: int, poll: int) -> None:
    assert sonic_start_default(ports) == Timers(detection, restoration, poll)


def test_watchdog_without_ports() -> None:
    with pytest.raises(ValueError, match="port count"):
        sonic_start_default(0)


@pytest.mark.parametrize(
    ("size", "speed", "words"),
    [(400_000, 400_000, "8 us"), (12_487_500, 100_000, "999 us"), (12_500_000, 100_000, "1,000 us")],
)
def test_sizes_in_time(size: int, speed: int, words: str) -> None:
    assert show_us(size, speed) == words


def test_buffer_time_of_tomahawk_5() -> None:
    """165.2e6 B at 51.2 Tbit/s: 25.8 us."""
    asic = table().find("Tomahawk 5")
    assert asic is not None and asic.nominal_bytes and asic.capacity_gbps
    assert asic.nominal_bytes * 8 / (asic.capacity_gbps * 1000) == pytest.approx(25.8, abs=0.05)
