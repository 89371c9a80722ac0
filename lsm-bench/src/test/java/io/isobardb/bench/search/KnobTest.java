package io.isobardb.bench.search;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.cli.console.UsageException;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("any-jdk")
class KnobTest {
  private static Knob knob(String text) {
    return Knob.parseAll(text).get(0);
  }

  @Test
  void commasBelongToValuesUnlessANameFollows() {
    List<Knob> knobs =
        Knob.parseAll("writeMemory=1MB..64MB:log,runs=LEVELED|LAZY|4,4,1,backgroundThreads=1..4");
    assertEquals(
        "[writeMemory=1MB..64MB:log, runs=LEVELED|LAZY(8)|LAZY(4), backgroundThreads=1..4]",
        knobs.toString());
    assertEquals(
        knobs.toString(),
        Knob.parseAll(knobs.toString().replaceAll("^.|.$", "").replace(", ", ",")).toString());
  }

  @Test
  void placesOfALogarithmicRangeAreSpreadByRatio() {
    Knob knob = knob("writeMemory=1MB..64MB:log");
    assertEquals(List.of("1MB", "2MB", "4MB", "8MB", "16MB", "32MB", "64MB"), knob.spread(7));
    assertEquals(0.5, knob.place("8MB"), 1e-9);
    assertEquals("8MB", knob.known("8388608"));
    assertTrue(knob.has("1048576"));
    assertFalse(knob.has("65MB"));
  }

  @Test
  void eachKindOfOptionHasItsNumbers() {
    assertEquals(List.of("50ms", "525ms", "1000ms"), knob("asyncSyncInterval=50ms..1s").spread(3));
    assertEquals(List.of("1", "3", "4"), knob("backgroundThreads=1..4").spread(3));
    assertEquals(List.of("1.1", "1.55", "2"), knob("maxSpace=1.1..2").spread(3));
    assertEquals(List.of("20MB", "40MB"), knob("ioBandwidth=20MB..40MB").spread(2));
    assertEquals(List.of("4KB", "8KB"), knob("pageSize=4096|8192").choices());
  }

  @Test
  void whatIsGivenIsWithinTheRange() {
    SplittableRandom random = new SplittableRandom(1);
    for (String text :
        List.of(
            "writeMemory=1000001..2000003",
            "maxSpace=1.2345..1.2349",
            "memoryBudget=5MB..1GB:log")) {
      Knob knob = knob(text);
      for (int i = 0; i < 200; i++) {
        String value = knob.value(random.nextDouble());
        assertTrue(knob.has(value), () -> text + ": " + value);
        assertEquals(value, knob.known(value));
        assertEquals(value, knob.value(knob.place(value)));
      }
    }
  }

  @Test
  void choicesWithoutOrderHaveACoordinateEach() {
    Space space =
        new Space(
            Knob.parseAll("runs=LEVELED|LAZY|TIERED,pageSize=4KB|8KB|16KB,memoryTuner=on|off"),
            options -> true);
    assertArrayEquals(new double[] {0, 1, 0, 1, 0}, space.point(List.of("LAZY(8)", "16KB", "on")));
    assertArrayEquals(new int[] {0, 0, 0, 1, 2}, space.knobOfCoordinate());
    Knob ordered = knob("runs=LEVELED|LAZY(4)|LAZY(8):ordered");
    assertEquals(1, ordered.coordinates());
    assertEquals(0.5, ordered.place("LAZY(4)"));
  }

  @Test
  void aGridHasAtMostSoManySettingsThatAStoreTakes() {
    List<Knob> knobs =
        Knob.parseAll("backgroundThreads=1..8,experiment.l0StartGroups=1..8,memoryTuner=on|off");
    assertEquals(50, new Space(knobs, options -> true).grid(60).size());
    List<List<String>> taken =
        new Space(knobs, options -> options.get("memoryTuner").equals("on")).grid(60);
    assertEquals(25, taken.size());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "writeMemroy=1MB..2MB | did you mean 'writeMemory'?",
        "writeMemory=8MB..1MB | upside down",
        "writeMemory=8MB..8MB | upside down",
        "experiment.flushTrigger=0.5..2 | experiment.flushTrigger must be from 0.5 to 0.98, not 2",
        "backgroundThreads=0..4 | backgroundThreads must be from 1 to 256, not 0",
        "writeMemory=1MB | has one value",
        "writeMemory=1MB..x | is not a size",
        "writeMemory | is neither NAME=LEAST..MOST",
        "levels=DYNAMIC..OPTIMISED | has no range",
        "ioBandwidth=auto..100MB | no end of a range",
        "runs=LEVELED|LEVELED | twice",
        "runs=LEVELED|LAYZ | none of LEVELED",
        "maxSpace=1.1..2,maxSpace=2..3 | names maxSpace twice",
        "memoryTunerWriteWeight=0..2:log | can't be :log",
        "maxSpace=1.1..2:ordered | is :log or :linear",
        "pageSize=4KB|8KB:log | may be :ordered",
        "keyOrder=a|b | says what a tree means",
      })
  void whatMakesNoSenseIsToldInALine(String line) {
    String[] parts = line.split(" \\| ", 2);
    UsageException thrown = assertThrows(UsageException.class, () -> Knob.parseAll(parts[0]));
    assertTrue(thrown.getMessage().contains(parts[1]), thrown::getMessage);
    assertTrue(thrown.getMessage().startsWith("--knobs"), thrown::getMessage);
  }
}
