"""Named events of CPUs: how names become codes, for CPUs that this machine need not have."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.errors import UsageError
from actiondbg.statistics.events import (
    Code,
    Cpu,
    Pmu,
    cpus_with,
    events_of,
    parse_events,
    read_cpu,
    read_pmu,
)
from tests.elements import some

ZEN3 = Cpu("AuthenticAMD", 25, 0x01, 1)
ZEN4 = Cpu("AuthenticAMD", 25, 0x61, 2)
ZEN5 = Cpu("AuthenticAMD", 26, 0x02, 1)
SKYLAKE_X = Cpu("GenuineIntel", 6, 0x55, 4)
CASCADE_LAKE = Cpu("GenuineIntel", 6, 0x55, 7)
SAPPHIRE_RAPIDS = Cpu("GenuineIntel", 6, 0x8F, 8)


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """A description of counters as that of an AMD CPU in sysfs."""
    for name, text in {
        "cpu/type": "4",
        "cpu/format/event": "config:0-7,32-35",
        "cpu/format/umask": "config:8-15",
        "cpu/format/cmask": "config:24-31",
        "cpu/format/inv": "config:23",
        "cpu/format/ldlat": "config1:0-15",
        "cpu/events/cpu-cycles": "event=0x76",
        "cpu/events/wide": "event=0x14f,umask=0x3",
        "cpu/events/stalls": "event=0xa3,umask=4,inv,cmask=5",
        "cpu/events/loads": "event=0xcd,umask=1,ldlat=3",
        "cpu/events/loads.scale": "0.5",
        "cpu/events/narrow": "event=0x1,umask=0x1ff",
        "cpu/events/unknown": "event=0x1,colour=3",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return tmp_path


def codes(cpu: Cpu) -> dict[str, Code]:
    return events_of(read_pmu(Path("/nonexistent")), cpu)


def test_terms_are_placed_where_the_kernel_describes_them(sysfs: Path) -> None:
    pmu = read_pmu(sysfs)
    assert pmu.present
    found = events_of(pmu, None)
    assert found == {
        "cpu-cycles": Code(4, 0x76),
        # The upper bits of an event of 12 bits are bits 32 to 35.
        "wide": Code(4, 0x1_0000_034F),
        "stalls": Code(4, 0xA3 | 4 << 8 | 1 << 23 | 5 << 24),
        # The others need a second register, do not fit, or have an unknown term.
    }


def test_kernels_names_come_first(sysfs: Path) -> None:
    (sysfs / "cpu/events/ex_ret_instr").write_text("event=0x11\n")
    assert events_of(read_pmu(sysfs), ZEN4)["ex_ret_instr"] == Code(4, 0x11)


def test_a_cpu_with_two_kinds_of_cores(tmp_path: Path) -> None:
    folder = tmp_path / "cpu_core" / "events"
    folder.mkdir(parents=True)
    (folder / "cycles").write_text("event=0x3c")
    (tmp_path / "cpu_core" / "type").write_text("10\n")
    assert events_of(read_pmu(tmp_path), None) == {"cycles": Code(10, 0x3C)}


@pytest.mark.parametrize(
    ("cpu", "name", "config"),
    [
        (ZEN4, "ls_any_fills_from_sys.all", 0xFF44),
        (ZEN4, "ls_any_fills_from_sys.dram_io_near", 0x0844),
        (ZEN4, "ex_ret_instr", 0xC0),
        (ZEN4, "fp_ops_retired_by_type.vector_mac", 0x400A),
        # An event of 12 bits: its upper bits are not those of the unit mask.
        (ZEN4, "ic_tag_hit_miss.instruction_cache_miss", 0x1_0000_188E),
        (ZEN3, "ls_any_fills_from_sys.mem_io_local", 0x0844),
        (ZEN3, "ls_any_fills_from_sys.all", 0x5F44),
        (ZEN5, "ls_any_fills_from_sys.all", 0xFF44),
        (ZEN5, "ls_any_fills_from_sys.dram_io_all", 0x4844),
        (ZEN5, "ls_mab_alloc.all_allocations", 0x0F41),
        (ZEN4, "ls_mab_alloc.all_allocations", 0x7F41),
        (SKYLAKE_X, "mem_load_retired.l1_hit", 0x01D1),
        (CASCADE_LAKE, "l2_rqsts.miss", 0x3F24),
        (SAPPHIRE_RAPIDS, "arith.div_active", 0x0100_09B0),
    ],
)
def test_codes_of_the_table(cpu: Cpu, name: str, config: int) -> None:
    assert codes(cpu)[name].config == config


def test_every_event_of_the_table_can_be_encoded() -> None:
    for cpu, least in (
        (ZEN3, 50),
        (ZEN4, 250),
        (ZEN5, 80),
        (SKYLAKE_X, 200),
        (SAPPHIRE_RAPIDS, 200),
    ):
        found = codes(cpu)
        assert len(found) > least
        assert all(code.config < 1 << 36 for code in some(found.values()))


def test_an_event_belongs_to_its_cpus() -> None:
    assert "fp_ops_retired_by_type.vector_mac" not in codes(ZEN3)
    assert "mem_load_retired.l1_hit" not in codes(ZEN4)
    assert codes(Cpu("AuthenticAMD", 23, 0x31, 0)) == {}
    assert cpus_with("ls_any_fills_from_sys.dram_io_near") == ["zen4", "zen5"]


def test_the_cpu_is_read_from_the_first_processor(tmp_path: Path) -> None:
    path = tmp_path / "cpuinfo"
    processor = (
        "processor\t: {}\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: {}\n"
        "model name\t: AMD EPYC 7B13\nstepping\t: 1\n\n"
    )
    path.write_text(processor.format(0, 1) + processor.format(1, 99))
    assert read_cpu(path) == Cpu("AuthenticAMD", 25, 1, 1)
    path.write_text("CPU implementer\t: 0x41\n")
    assert read_cpu(path) is None
    assert read_cpu(tmp_path / "missing") is None


def test_an_event_of_another_cpu_is_not_unknown() -> None:
    """A machine has either AMD's or Intel's events."""
    for own, other in (("zen4", "l2_rqsts.miss"), ("skx", "ls_any_fills_from_sys.near_cache")):
        try:
            parse_events([other], "actiondbg kernels count")
        except UsageError as error:
            assert "it is an event of other CPUs" in str(error)
            assert own not in str(error)
            return
    pytest.fail("no event is refused")


def test_names_are_whole_names() -> None:
    with pytest.raises(UsageError) as error:
        parse_events(["ls_any_fills_from_sys.al"])
    assert str(error.value).startswith("There is no event 'ls_any_fills_from_sys.al'")


def test_counters_of_a_machine_without_sysfs() -> None:
    pmu = read_pmu(Path("/nonexistent"))
    assert not pmu.present
    assert pmu.code("event=0xb0,umask=0x9,cmask=0x1") == Code(4, 0x010009B0)
    assert pmu.code("event=banana") is None
    assert pmu.code("event=-1") is None


def test_terms_without_a_value_are_one() -> None:
    assert Pmu(4, {"edge": "config:18"}, {}, True).code("edge") == Code(4, 1 << 18)
