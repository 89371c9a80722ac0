package io.isobardb.tuner.shape;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PhasesTest {
  private static final Window WRITES = new Window(0, 900, 0, 100, 0, 0, 0);
  private static final Window SCANS = new Window(0, 50, 0, 50, 0, 900, 18_000);
  private static final Window READS = new Window(0, 50, 0, 950, 0, 0, 0);

  private static Phases after(Phases phases, Window window, int times) {
    Phases now = phases;
    for (int i = 0; i < times; i++) {
      now = now.after(window);
    }
    return now;
  }

  @Test
  void oneWindowThatIsOtherwiseEndsNoPhase() {
    Phases phases = after(Phases.NONE, WRITES, 5).after(SCANS);
    assertTrue(phases.isDoubtful());
    assertFalse(phases.began());
    phases = phases.after(WRITES);
    assertFalse(phases.isDoubtful());
    assertFalse(phases.began());
    assertEquals(List.of(), phases.past());
    assertEquals(7000, phases.now().operations());
  }

  @Test
  void twoWindowsThatAreAlikeBeginAPhase() {
    Phases phases = after(Phases.NONE, WRITES, 5).after(SCANS);
    phases = phases.after(SCANS);
    assertTrue(phases.began());
    assertEquals(2000, phases.now().operations());
    assertEquals(5000, phases.past().get(0).operations());
    assertFalse(phases.after(SCANS).began());
  }

  @Test
  void whatStaysOtherwiseWithoutBeingAlikeIsAPhaseAfterFourWindows() {
    Phases phases = after(Phases.NONE, WRITES, 5);
    phases = phases.after(SCANS).after(READS).after(SCANS);
    assertFalse(phases.began());
    phases = phases.after(READS);
    assertTrue(phases.began());
    assertEquals(4000, phases.now().operations());
  }

  @Test
  void aDriftBecomesAPhaseInTime() {
    Phases phases = Phases.NONE;
    int began = 0;
    for (int i = 0; i <= 40; i++) {
      double writes = 1000 - 25.0 * i;
      phases = phases.after(new Window(0, writes, 0, 1000 - writes, 0, 0, 0));
      began += phases.began() ? 1 : 0;
    }
    assertTrue(began >= 2 && began <= 6, () -> "phases");
  }

  @Test
  void sharesThatAreDrawnAtRandomAreOnePhase() {
    SplittableRandom random = new SplittableRandom(7);
    Phases phases = Phases.NONE;
    for (int i = 0; i < 500; i++) {
      double writes = 500 + 120 * random.nextDouble();
      phases = phases.after(new Window(0, writes, 0, 1000 - writes, 0, 0, 0));
      assertFalse(phases.began());
    }
  }

  @Test
  void aStayIsExpectedAsPhasesLikeItLasted() {
    Phases phases = after(Phases.NONE, WRITES, 10);
    assertTrue(Double.isNaN(phases.expectedStay()));
    for (int day = 0; day < 3; day++) {
      phases = after(phases, SCANS, 20);
      phases = after(phases, WRITES, 10);
    }
    // Windows that tell that a phase has ended belong to the next one.
    phases = after(phases, SCANS, 4);
    assertEquals(16_000, phases.expectedStay(), 1);
    phases = after(phases, SCANS, 16);
    assertTrue(Double.isNaN(phases.expectedStay()), "it lasts longer than any before");
  }

  @Test
  void noMorePhasesAreRememberedThanAreOfUse() {
    Phases phases = Phases.NONE;
    for (int i = 0; i < 100; i++) {
      phases = after(phases, i % 2 == 0 ? WRITES : SCANS, 3);
    }
    assertEquals(16, phases.past().size());
  }

  @Test
  void scansOfOtherLengthsAreOtherOperations() {
    Window brief = new Window(0, 0, 0, 500, 0, 500, 5_000);
    Window wide = new Window(0, 0, 0, 500, 0, 500, 50_000);
    assertEquals(0.5, brief.distance(wide), 1e-9);
    assertEquals(0, brief.distance(new Window(0, 0, 0, 500, 0, 500, 10_000)), 1e-9);
    assertEquals(0, WRITES.distance(new Window(900, 0, 0, 100, 0, 0, 0)), 1e-9);
  }

  @Test
  void countsBelowZeroAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> new Window(0, -1, 0, 0, 0, 0, 0));
    assertThrows(IllegalArgumentException.class, () -> new Window(0, 0, Double.NaN, 0, 0, 0, 0));
  }

  @Test
  void operationsAreNeitherLostNorCountedTwice() {
    SplittableRandom random = new SplittableRandom(11);
    List<Window> kinds = List.of(WRITES, SCANS, READS);
    for (int run = 0; run < 50; run++) {
      Phases phases = Phases.NONE;
      List<Window> done = new ArrayList<>();
      for (int i = 0; i < 40 && phases.past().size() < 16; i++) {
        Window window = kinds.get(random.nextInt(3));
        done.add(window);
        phases = phases.after(window);
      }
      double known = phases.now().operations() + phases.aside().operations();
      known += phases.past().stream().mapToDouble(Window::operations).sum();
      assertEquals(done.stream().mapToDouble(Window::operations).sum(), known, 1e-6);
    }
  }
}
