"""Formulas of others: the values that tuning.md and the notes on SONiC's dynamic model give for them."""

import math

import pytest

from rocetune.tuning.lossless_formulas import (
    IXGBE_X540_DELAY,
    barefoot_dynamic,
    bit_times_to_bytes,
    book_sum_bytes,
    cisco_cable_bytes,
    dcqcn_paper_bytes,
    habana_arista_bytes,
    hpcc_simulator_buffer_mb,
    hpcc_simulator_bytes,
    ixgbe_delay_bit_times,
    measured_bytes,
    mellanox_dynamic,
    mlxsw_bytes,
    nxos_pause,
)
from rocetune.tuning.nic import mlx5_receive_buffer

# chip, Mbit/s, m, xon, xoff 2024-09, xoff master, size master, xoff with p = 100 (master), xoff before, p = 50
WORKED = [
    ("spectrum-1", 100_000, 5, 19456, 41984, 44032, 63488, 72704, 55296),
    ("spectrum-1", 100_000, 40, 19456, 46080, 48128, 67584, 81920, 61440),
    ("spectrum-1", 100_000, 300, 19456, 82944, 84992, 104448, 147456, 108544),
    ("spectrum-1", 25_000, 40, 19456, 19456, 21504, 40960, 33792, 25600),
    ("spectrum-2", 100_000, 5, 19456, 46080, 48128, 67584, 108544, 59392),
    ("spectrum-3", 400_000, 5, 19456, 88064, 90112, 109568, 212992, 115712),
    ("spectrum-4", 400_000, 5, 19456, 96256, 98304, 117760, 230400, 142336),
    ("spectrum-4", 800_000, 5, 19456, 106496, 108544, 128000, 256000, 147456),
    ("spectrum-4", 800_000, 300, 19456, 474112, 476160, 495616, 1149952, 729088),
    ("spectrum-5", 800_000, 40, 19456, 150528, 152576, 172032, 362496, 216064),
    ("spectrum-6", 800_000, 40, 43008, 148480, 168960, 211968, 452608, 269312),
]


@pytest.mark.parametrize(("chip", "speed", "cable", "xon", "now", "master", "size", "all_small", "before"), WORKED)
def test_mellanox_dynamic(
    chip: str, speed: int, cable: int, xon: int, now: int, master: int, size: int, all_small: int, before: int
) -> None:
    assert mellanox_dynamic(chip, speed, cable).xoff_bytes == now
    newest = mellanox_dynamic(chip, speed, cable, vintage="master")
    assert (newest.xoff_bytes, newest.xon_bytes, newest.size_bytes) == (master, xon, size)
    assert mellanox_dynamic(chip, speed, cable, vintage="master", small_packet_percent=100).xoff_bytes == all_small
    assert mellanox_dynamic(chip, speed, cable, vintage="pre-2024-09").xoff_bytes == before


def test_mellanox_eight_lanes_and_shared_pool() -> None:
    """Master, Spectrum-4, 800G, 5 m: xon 38912, xoff 108544, size 156672; with the pool size = xon, no reserve."""
    eight = mellanox_dynamic("spectrum-4", 800_000, 5, lanes=8, vintage="master")
    assert (eight.xon_bytes, eight.xoff_bytes, eight.size_bytes) == (38912, 108544, 156672)
    pool = mellanox_dynamic("spectrum-4", 800_000, 5, lanes=8, vintage="master", shared_pool=True)
    assert (pool.xoff_bytes, pool.size_bytes) == (106496, 38912)
    six = mellanox_dynamic("spectrum-6", 800_000, 40, vintage="master", shared_pool=True)
    assert six.xoff_bytes == 148480 + 18432
    assert mellanox_dynamic("spectrum-3", 400_000, 5, lanes=8, vintage="pre-2024-09").xon_bytes == 37888


def test_tuning_md_on_the_shipped_dynamic_mode() -> None:
    """tuning.md 1.5: p = 50 and the script as it was give SN4700 352256 at 400G/300 m and 59392 at 100G/5 m."""
    old = [
        mellanox_dynamic("spectrum-3", *at, vintage="pre-2024-09").xoff_bytes for at in ((400_000, 300), (100_000, 5))
    ]
    assert old == [352256, 59392]


def test_barefoot_by_hand() -> None:
    # 100G, 5 m: 2*5*1e5*1e9/1.98e8/8192 = 616.5; gearbox 2 * 1e5*365/8192 = 8911.1; 819.2; 25216; MTU 9100
    # K = (50 + 50 * 2.75)/100 = 1.875; 1024 + 1.875 * 44662.8 = 84766.8 -> 83 KiB
    made = barefoot_dynamic(100_000, 5)
    assert (made.xoff_bytes, made.xon_bytes, made.size_bytes) == (84992, 69632, 69632)
    # 400G: 2466.1; gearbox 35644.5; 819.2; response doubled, 2 * 57920; 9100: 1024 + 1.875 * 163869.8 -> 302 KiB
    assert barefoot_dynamic(400_000, 5).xoff_bytes == 302 * 1024


@pytest.mark.parametrize(
    ("gbps", "mtu", "headroom", "smallest"),
    [
        (25, 1500, 16_720, 25_936),  # as at 40G: (301 + 15) * 40 + 4080; a frame of 9216 above it
        (40, 1500, 16_720, 25_936),
        (100, 9600, 57_712, 67_312),  # 31600 + 26112, and the larger frame of 9600
    ],
)
def test_mlx5_at_its_limits(gbps: int, mtu: int, headroom: int, smallest: int) -> None:
    """Speeds below 40G count as 40G; the buffer holds one frame of at least 9216 B above the headroom; 7 m."""
    made = mlx5_receive_buffer(gbps * 1000, 7, mtu)
    assert (made.headroom_bytes, made.smallest_bytes) == (headroom, smallest)


def test_speeds_outside_the_script_are_refused() -> None:
    with pytest.raises(ValueError, match="quanta table"):
        mellanox_dynamic("spectrum-5", 1_600_000, 5)
    with pytest.raises(ValueError, match="ends at 400G"):
        barefoot_dynamic(800_000, 5)


def test_ixgbe() -> None:
    assert ixgbe_delay_bit_times(1522, 1522) == 122261
    assert ixgbe_delay_bit_times(1522, 1522, interface_delay=IXGBE_X540_DELAY) == 176820
    assert ixgbe_delay_bit_times(9216, 2240) == 222384
    assert [bit_times_to_bytes(bits) for bits in (122261, 176820, 222384)] == [15283, 22103, 27798]


@pytest.mark.parametrize(
    ("speed", "cable", "size"),
    [(10, 100, 18778), (25, 100, 21421), (40, 100, 30336), (100, 100, 80076), (100, 300, 105076), (25, 300, 27671)],
)
def test_book_sum(speed: int, cable: int, size: int) -> None:
    assert book_sum_bytes(speed * 1000, cable) == size


def test_book_has_no_400g() -> None:
    with pytest.raises(ValueError, match="10G, 25G, 40G and 100G"):
        book_sum_bytes(400_000, 5)


def test_cisco_cable_and_hpcc() -> None:
    assert cisco_cable_bytes(10_000, 100) == pytest.approx(641.25)
    assert hpcc_simulator_bytes(100_000, 1000) == 37500
    assert [hpcc_simulator_buffer_mb(gbps * 1000) for gbps in (25, 50, 100, 400)] == [8, 16, 32, 128]


@pytest.mark.parametrize(
    ("sizes", "headroom", "hysteresis"),
    [((101920, 46800, 34320), 265, 60), ((27456, 12480, 12480), 72, 0)],
)
def test_nxos_examples_are_whole_cells(sizes: tuple[int, int, int], headroom: int, hysteresis: int) -> None:
    """tuning.md 1.4: cells of 208 B; 55120 and 14976 B of headroom, 12480 and 0 B of hysteresis."""
    made = nxos_pause(*sizes)
    assert (made.headroom_cells, made.hysteresis_cells) == (headroom, hysteresis)
    assert made.headroom_cells * 208 in (55120, 14976) and made.hysteresis_cells * 208 in (12480, 0)
    with pytest.raises(ValueError, match="whole cells of 254 B"):
        nxos_pause(*sizes, cell_bytes=254)


def test_nxos_values_out_of_order() -> None:
    with pytest.raises(ValueError, match="resume <= pause < buffer-size"):
        nxos_pause(46800, 101920, 34320)
    with pytest.raises(ValueError, match="resume <= pause < buffer-size"):
        nxos_pause(101920, 34320, 46800)


def test_habana_recipe() -> None:
    """tuning.md 1.4: 250 cells of 254 B, described as about 64000."""
    assert habana_arista_bytes() == 63500


# tuning.md 1.5: what was published, and what the formula gives
OTHER_ROWS = [
    ("Trident 3 measured", measured_bytes(60228, 59605, 256), 159488, 160000, -0.32),
    ("DCQCN paper", dcqcn_paper_bytes(), 21816, 22400, -2.61),
    # CSV: 104663. tuning.md's 104658 has F = 1.9793; 192/97 unrounded makes 104662.2, and bytes are rounded up.
    ("mlxsw", math.ceil(mlxsw_bytes()), 104663, 101600, 3.01),
]


@pytest.mark.parametrize(("name", "made", "expected", "published", "error"), OTHER_ROWS, ids=lambda item: str(item))
def test_rows_16_to_18(name: str, made: int, expected: int, published: int, error: float) -> None:
    assert made == expected
    assert (made / published - 1) * 100 == pytest.approx(error, abs=0.006)
    assert name != "mlxsw" or made == pytest.approx(104658, abs=5)


def test_measured_headroom_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="drops come after pause"):
        measured_bytes(59605, 60228, 256)
