package io.isobardb.tuner.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What the tuner keeps in mind from one cycle to the next, beside the last decision.
 *
 * @param samples the last slopes, one per memory size, newest last
 * @param direction where the last slope pointed: 1 to more write memory, -1 to less, 0 unknown
 * @param streak for how many cycles it has pointed there
 * @param trust how much of the cap steps may use: halved when the direction turns, above 1 only
 *     after several steps in one direction that each lowered the cost
 * @param turns how often steps turned round lately: the more, the more patience
 * @param calm for how many cycles the workload has been the same
 * @param noise how far the cost strays by itself from what was expected, as a share of it
 * @param steepness how writes followed memory in the steps so far
 * @param run the steps made in one direction
 * @param hold what was learnt from the last step that was taken back
 */
public record Progress(
    List<Sample> samples,
    int direction,
    int streak,
    double trust,
    int turns,
    int calm,
    double noise,
    Steepness steepness,
    Run run,
    Hold hold) {

  private static final double FIRST_NOISE = 0.02;
  private static final double MAX_NOISE = 0.2;
  private static final double MIN_NOISE = 0.003;
  private static final double MIN_TRUST = 1.0 / 16;

  /** For so many cycles must the direction be the same before trust that was lost comes back. */
  private static final int STREAK_OF_TRUST = 3;

  /** Turns that count; each doubles how long the direction must hold. */
  private static final int MAX_TURNS = 2;

  /** A workload that changes more often than this, in cycles, is a restless one. */
  private static final int CALM = 4;

  /** For so many cycles must it be the same, and the cost sink, before steps get longer. */
  private static final int STREAK_OF_BOLDNESS = 2;

  /** Samples older than this, in cycles, tell of another workload. */
  private static final int MAX_SAMPLE_AGE = 16;

  /** What a tuner knows that has not seen a cycle. */
  public static final Progress START =
      new Progress(List.of(), 0, 0, 1, 0, 0, FIRST_NOISE, Steepness.UNKNOWN, Run.NONE, Hold.NONE);

  /**
   * Copies the list.
   *
   * @param samples one per memory size, newest last
   * @param direction 1, -1 or 0
   * @param streak in cycles
   * @param trust above 0
   * @param turns 0 or more
   * @param calm in cycles
   * @param noise as a share of the cost
   * @param steepness of the steps so far
   * @param run of steps in one direction
   * @param hold none if no step hurt
   */
  public Progress {
    samples = List.copyOf(samples);
  }

  /**
   * A slope of the cost as it was measured.
   *
   * @param cycle when
   * @param writeBytes at which write memory
   * @param slope cost′ there, per byte
   */
  public record Sample(long cycle, long writeBytes, double slope) {}

  /**
   * What steps have done to writes, beside what equation 5 said they would: L0, sizes of SSTables
   * and numbers of levels, of which that knows nothing, have their part in it. Least squares, later
   * steps counting more.
   *
   * @param expected sum of the squares of what was expected, as shares of what is written
   * @param found sum of what was found times what was expected
   */
  public record Steepness(double expected, double found) {
    static final Steepness UNKNOWN = new Steepness(0, 0);

    /** Steps must have promised so much, squared, to count as much as the equation. */
    private static final double PRIOR = 0.01;

    private static final double FORGETS = 0.9;
    private static final double LEAST = 0.5;
    private static final double MOST = 3;

    /**
     * Checks the numbers.
     *
     * @param expected 0 or more
     * @param found of any sign
     * @throws IllegalArgumentException if a number is not finite, or the sum of squares negative
     */
    public Steepness {
      Check.notNegative("expected", expected);
      Check.notNegative("found", Math.abs(found));
    }

    Steepness and(double expectedShare, double foundShare) {
      return new Steepness(
          FORGETS * expected + expectedShare * expectedShare,
          FORGETS * found + foundShare * expectedShare);
    }

    /** How many times as much as the equation says more memory saves. */
    double times() {
      return Math.max(LEAST, Math.min(MOST, (PRIOR + found) / (PRIOR + expected)));
    }
  }

  /**
   * Steps in one direction without a turn.
   *
   * @param direction 1 to more write memory, -1 to less, 0 if there was none
   * @param bestBytes the write memory with the lowest cost on the way
   * @param bestCost that cost
   * @param bestAge how many cycles ago that was
   * @param doubted whether the cost was too high when it was looked at last
   */
  public record Run(int direction, long bestBytes, double bestCost, int bestAge, boolean doubted) {
    static final Run NONE = new Run(0, 0, 0, 0, false);

    /** After so many cycles the best is forgotten: the workload may have drifted. */
    private static final int MAX_AGE = 8;

    static Run from(int direction, long writeBytes, double cost) {
      return new Run(direction, writeBytes, cost, 0, false);
    }

    Run measured(long writeBytes, double cost) {
      return cost < bestCost || bestAge >= MAX_AGE
          ? from(direction, writeBytes, cost)
          : new Run(direction, bestBytes, bestCost, bestAge + 1, false);
    }

    Run inDoubt() {
      return new Run(direction, bestBytes, bestCost, bestAge, true);
    }
  }

  /**
   * After a step that hurt: back to where it was better, and none into that direction for a while.
   *
   * @param direction the direction that hurt, 0 if none
   * @param cycles for how many more cycles not to go there
   * @param length how long that was when it began: twice as long after each further time
   * @param returnBytes the write memory to go back to, 0 if not on the way back
   * @param returnCost the cost that was measured there
   */
  public record Hold(int direction, int cycles, int length, long returnBytes, double returnCost) {
    static final Hold NONE = new Hold(0, 0, 0, 0, 0);
    private static final int FIRST_LENGTH = 3;
    private static final int MAX_LENGTH = 24;

    Hold hurt(Run run) {
      int next = direction == run.direction() ? Math.min(MAX_LENGTH, 2 * length) : 0;
      int held = Math.max(FIRST_LENGTH, next);
      return new Hold(run.direction(), held, held, run.bestBytes(), run.bestCost());
    }

    Hold cycleLater() {
      return new Hold(direction, Math.max(0, cycles - 1), length, returnBytes, returnCost);
    }

    Hold returned() {
      return new Hold(direction, cycles, length, 0, 0);
    }

    /** A step there lowered the cost: half as suspicious, and forgiven if it was not the first. */
    Hold eased(int stepped, boolean again) {
      if (stepped != direction) {
        return this;
      }
      int half = Math.max(FIRST_LENGTH, length / 2);
      return again && length == FIRST_LENGTH
          ? NONE
          : new Hold(direction, cycles, half, returnBytes, returnCost);
    }

    /** By how much to shorten steps in a direction: by half after it has hurt once. */
    double caution(int wanted) {
      return wanted == direction ? FIRST_LENGTH / (2.0 * length) : 1;
    }

    boolean forbids(int wanted) {
      return cycles > 0 && wanted == direction;
    }
  }

  /** A change of some fields, by their names; the others stay. Not thread-safe. */
  private static final class Change {
    private List<Sample> samples;
    private int direction;
    private int streak;
    private double trust;
    private int turns;
    private int calm;
    private double noise;
    private Steepness steepness;
    private Run run;
    private Hold hold;

    Change(Progress of) {
      samples = of.samples;
      direction = of.direction;
      streak = of.streak;
      trust = of.trust;
      turns = of.turns;
      calm = of.calm;
      noise = of.noise;
      steepness = of.steepness;
      run = of.run;
      hold = of.hold;
    }
  }

  private Progress with(Consumer<Change> changed) {
    Change to = new Change(this);
    changed.accept(to);
    return new Progress(
        to.samples,
        to.direction,
        to.streak,
        to.trust,
        to.turns,
        to.calm,
        to.noise,
        to.steepness,
        to.run,
        to.hold);
  }

  /** Adds a sample; those within {@code apartBytes} of it were of the same memory size, and go. */
  Progress sampled(Sample sample, long apartBytes, int most) {
    List<Sample> kept = new ArrayList<>(samples);
    kept.removeIf(
        old ->
            Math.abs(old.writeBytes() - sample.writeBytes()) < apartBytes
                || sample.cycle() - old.cycle() > MAX_SAMPLE_AGE);
    kept.add(sample);
    return with(to -> to.samples = kept.subList(Math.max(0, kept.size() - most), kept.size()));
  }

  /**
   * Takes note of where the slope points: trust sinks at a turn, and grows as long as it holds, up
   * to {@code most}; the more steps turned, the later.
   */
  Progress pointed(int wanted, double most) {
    int lasted = wanted == direction ? streak + 1 : wanted == 0 ? 0 : 1;
    double next = trust(wanted, lasted, most);
    return with(
        to -> {
          to.direction = wanted;
          to.streak = lasted;
          to.trust = next;
          to.turns = next > 1 ? 0 : turns;
        });
  }

  private double trust(int wanted, int lasted, double most) {
    double now = Math.min(most, trust);
    if (wanted != 0 && wanted == -direction) {
      return Math.max(MIN_TRUST, Math.min(1, now) / 2);
    } else if (now < 1 && lasted >= STREAK_OF_TRUST << turns) {
      return Math.min(Math.min(1, most), 2 * now);
    } else if (now >= 1 && lasted >= STREAK_OF_BOLDNESS) {
      return Math.min(most, 1.5 * now);
    }
    return now;
  }

  /** A step that way is made, from this write memory with this cost. */
  Progress stepped(int way, long writeBytes, double cost) {
    if (run.direction() == way) {
      return this;
    }
    return with(
        to -> {
          to.turns = run.direction() == 0 ? turns : Math.min(MAX_TURNS, turns + 1);
          to.run = Run.from(way, writeBytes, cost);
        });
  }

  /** Learns from a cycle without a step how far the cost strays; one cycle alone changes little. */
  Progress strayed(double share) {
    double bounded = Math.min(share, 4 * noise + 0.01);
    double next = Math.min(MAX_NOISE, Math.max(MIN_NOISE, 0.7 * noise + 0.3 * bounded));
    return with(to -> to.noise = next);
  }

  Progress with(Steepness next) {
    return with(to -> to.steepness = next);
  }

  Progress with(Run next) {
    return with(to -> to.run = next);
  }

  Progress with(Hold next) {
    return with(to -> to.hold = next);
  }

  /**
   * What remains when the workload or the budget has changed: how noisy the store is, and less
   * trust if it changes all the time.
   */
  Progress startedAnew() {
    double next = calm >= CALM ? 1 : Math.max(MIN_TRUST, Math.min(1, trust) / 2);
    return START.with(
        to -> {
          to.trust = next;
          to.noise = noise;
        });
  }

  /** A cycle later. */
  Progress older() {
    return with(
        to -> {
          to.calm = calm < CALM ? calm + 1 : calm;
          to.hold = hold.cycleLater();
        });
  }

  /** Steps are to be smaller after one that hurt. */
  Progress sobered() {
    return with(
        to -> {
          to.streak = 0;
          to.trust = Math.max(MIN_TRUST, trust / 2);
        });
  }

  /**
   * The slope A of the line cost′(x) = Ax + B that fits the samples best (section 5.4), NaN with
   * fewer than two.
   */
  double curvature() {
    double meanX = samples.stream().mapToDouble(Sample::writeBytes).average().orElse(Double.NaN);
    double meanY = samples.stream().mapToDouble(Sample::slope).average().orElse(Double.NaN);
    double above = 0;
    double below = 0;
    for (Sample sample : samples) {
      double x = sample.writeBytes() - meanX;
      above += x * (sample.slope() - meanY);
      below += x * x;
    }
    return samples.size() < 2 || below == 0 ? Double.NaN : above / below;
  }
}
