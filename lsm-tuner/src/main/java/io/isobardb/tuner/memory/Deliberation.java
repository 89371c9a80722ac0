package io.isobardb.tuner.memory;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How one decision is come to; {@link MemoryTuner} tells the rules. For one use, by one thread. */
final class Deliberation {
  /** The cost must rise by so many times the noise before a step is taken back. */
  private static final double HARM = 3;

  /** Bytes written per operation that differ by more than this factor are another workload. */
  private static final double OTHER_WORKLOAD = 1.5;

  /** A step must promise this share of the noise, or it would follow the noise. */
  private static final double NOISE_GAIN = 0.05;

  /** A line whose root is so many times nearer than where the pressures balance falls short. */
  private static final double SHORT = 2;

  /** Regions below this share of the budget may more than double. */
  private static final double SMALL = 1.0 / 32;

  /** How much of the cap the first step from rest may use. */
  private static final double TRUST_AT_REST = 0.25;

  /** A cost that changes by this share at rest is another workload, if the noise is less. */
  private static final double OTHER_COST = 0.1;

  private final TunerOptions options;
  private final @Nullable Decision last;
  private final StoreCycle cycle;
  private Pressure pressure;
  private final long from;
  private final long min;
  private final long max;
  private Progress progress;
  private boolean changed;

  Deliberation(TunerOptions options, @Nullable Decision last, StoreCycle cycle) {
    this.options = options;
    this.last = last;
    this.cycle = cycle;
    this.from = cycle.writeMemoryBytes();
    this.min = options.minWriteBytes(cycle);
    this.max = options.maxWriteBytes(cycle);
    this.progress = last == null ? Progress.START : last.after();
    this.pressure = Pressure.of(cycle, options, progress.steepness().times());
  }

  Decision decide() {
    if (from < min || from > max) {
      progress = progress.startedAnew();
      return move(Method.LIMITS, Math.max(min, Math.min(max, from)), "beyond a floor");
    }
    if (cycle.operations() == 0) {
      return stay("nothing was done");
    }
    if (cycle.ghostBytes() == 0) {
      return stay("no ghost cache to judge reads by");
    }
    changed = workloadChanged();
    if (changed) {
      progress = progress.startedAnew();
    } else {
      compareWrites();
    }
    pressure = Pressure.of(cycle, options, progress.steepness().times());
    if (pressure.cost() <= 0) {
      return stay("no I/O to save");
    }
    int wanted = (int) -Math.signum(pressure.slope());
    observe();
    Decision back = changed ? null : takeBack();
    if (back != null) {
      return back;
    }
    if (lowered()) {
      boolean again = progress.trust() > 1;
      progress = progress.with(progress.hold().eased(progress.run().direction(), again));
    }
    progress = progress.pointed(wanted, mostTrust());
    if (wanted == 0) {
      return stay("neither region would save I/O");
    }
    if (progress.hold().forbids(wanted)) {
      return stay(
          text(
              "wants %s, which hurt before: not for %d cycles",
              name(wanted), progress.hold().cycles()));
    }
    return step(wanted);
  }

  /** Takes the cycle's sample, and learns what noise there is if nothing was changed. */
  private void observe() {
    Progress.Sample sample =
        new Progress.Sample(cycle.cycle(), cycle.writeMemoryBytes(), pressure.slope());
    long apart = options.minStepBytes(cycle, Math.min(from, cycle.cacheBytes()));
    progress = progress.sampled(sample, apart, options.samples());
    progress = progress.older();
    if (last != null && last.method() == Method.STAY && last.pressure().cost() > 0) {
      double before = last.pressure().cost();
      double now = pressure.cost();
      progress = progress.strayed(Math.abs(now - before) / Math.max(now, before));
    }
  }

  /** Learns from a step how much writes follow memory. */
  private void compareWrites() {
    if (last == null || last.fromBytes() == from || last.pressure().writeCost() <= 0) {
      return;
    }
    double before = last.pressure().writeCost();
    double now = pressure.writeCost();
    double way = StrictMath.log((double) from / Math.max(1, last.fromBytes()));
    double expected = way * (Pressure.fall(last.seen()) + Pressure.fall(cycle)) / 2;
    double mean = (before + now) / 2;
    progress = progress.with(progress.steepness().and(expected / mean, (before - now) / mean));
  }

  /** Whether the store is so different from the last cycle's that its lessons mislead. */
  private boolean workloadChanged() {
    if (last == null) {
      return false;
    }
    double before = last.seen().writtenPerOperation();
    double now = cycle.writtenPerOperation();
    double page = cycle.pageBytes() * 0.001;
    boolean otherWrites =
        Math.max(before, now) > page
            && (now > OTHER_WORKLOAD * before || before > OTHER_WORKLOAD * now);
    boolean notCarriedOut =
        Math.abs(last.toBytes() - from) > options.minStepBytes(cycle, cycle.budgetBytes());
    return otherWrites
        || (last.method() == Method.STAY && !progress.run().doubted() && otherCost(last))
        || notCarriedOut
        || last.seen().budgetBytes() != cycle.budgetBytes()
        || !last.options().equals(options);
  }

  private boolean otherCost(Decision last) {
    double before = last.pressure().cost();
    double now = pressure.cost();
    double bound = 1 + Math.max(OTHER_COST, HARM * progress.noise());
    return before > 0 && (now > bound * before || before > bound * now);
  }

  /** The step back after one that hurt, or null if there is nothing to take back. */
  private @Nullable Decision takeBack() {
    if (last == null) {
      return null;
    }
    Progress.Hold hold = progress.hold();
    if (hold.returnBytes() > 0) {
      return goOnBack(hold);
    }
    Progress.Run run = progress.run();
    if ((stepped(last) || run.doubted())
        && pressure.cost() > run.bestCost() * (1 + HARM * progress.noise())) {
      double percent = 100 * (pressure.cost() / run.bestCost() - 1);
      if (!run.doubted()) {
        progress = progress.with(run.inDoubt());
        return stay(text("cost %.1f %% above the best of these steps: looks again", percent));
      }
      progress = progress.sobered().with(hold.hurt(run)).with(Progress.Run.NONE);
      return back(text("cost still %.1f %% above the best of these steps", percent));
    }
    if (run.direction() != 0) {
      progress = progress.with(run.measured(from, pressure.cost()));
    }
    return null;
  }

  /** The cap may make a way back long; it ends where it is good enough, or where it began. */
  private @Nullable Decision goOnBack(Progress.Hold hold) {
    boolean helped = pressure.cost() <= hold.returnCost() * (1 + progress.noise());
    long rest = Math.abs(hold.returnBytes() - from);
    boolean arrived = rest < options.minStepBytes(cycle, giving(-hold.direction()));
    if (!helped && !arrived) {
      return back("further back, the cost still being higher");
    }
    boolean blameless = pressure.cost() > hold.returnCost() * (1 + HARM * progress.noise());
    progress = progress.with(blameless ? Progress.Hold.NONE : hold.returned());
    return null;
  }

  /** At rest a first step is to be a small one, after a step that went well a long one. */
  private double mostTrust() {
    if (lowered()) {
      return options.boldness();
    }
    return last != null && last.method() == Method.STAY && !changed ? TRUST_AT_REST : 1;
  }

  /** Whether the last decision was a step, and the cost is lower since. */
  private boolean lowered() {
    return last != null && !changed && stepped(last) && pressure.cost() < last.pressure().cost();
  }

  private static boolean stepped(Decision decision) {
    return decision.method() == Method.NEWTON || decision.method() == Method.FIXED_STEP;
  }

  private Decision back(String reason) {
    Progress.Hold hold = progress.hold();
    int way = hold.returnBytes() > from ? 1 : -1;
    long length = Math.min(Math.abs(hold.returnBytes() - from), cap(way, options.boldness()));
    return move(Method.TAKEN_BACK, from + way * length, reason);
  }

  private Decision step(int way) {
    double balance = Math.abs(pressure.balancedBytes(from) - from);
    double root = Math.abs(pressure.slope()) / progress.curvature();
    // The slope is a curve that flattens, and lines through it fall short far from the root.
    boolean fallsShort = progress.trust() >= 1 && SHORT * root < balance;
    boolean newton = root > 0 && Double.isFinite(root) && !fallsShort;
    double boldness = progress.trust() * progress.hold().caution(way);
    double fixed = boldness * options.fixedStep() * cycle.budgetBytes();
    double length = Math.min(newton ? root : fixed, balance);
    long capped = (long) Math.min(length, cap(way, boldness));
    long shortest = options.minStepBytes(cycle, giving(way));
    if (capped < shortest) {
      return stay(tooShort(way, length, capped));
    }
    long to = from + way * capped;
    double gain = pressure.gain(from, to);
    double least = pressure.cost() * Math.max(options.minGain(), NOISE_GAIN * progress.noise());
    if (!(gain >= least)) {
      double percent = 100 * gain / pressure.cost();
      return stay(text("%s would save %.3f %% only", name(way), percent));
    }
    if (last != null
        && !changed
        && last.method() == Method.STAY
        && !(last.pressure().gain(from, to) >= least)) {
      return stay(text("%s, if the next cycle says so too", name(way)));
    }
    progress = progress.stepped(way, from, pressure.cost());
    String how =
        newton ? text("by the line through %d samples", progress.samples().size()) : "a fixed step";
    String capping = capped < (long) length ? ", capped" : "";
    return move(newton ? Method.NEWTON : Method.FIXED_STEP, to, name(way) + ", " + how + capping);
  }

  private String tooShort(int way, double length, long capped) {
    if (room(way) == capped && capped < length) {
      return (way > 0 ? "the cache" : "write memory") + " is at its floor";
    }
    return name(way) + (capped < (long) length ? " so little is not worth it yet" : " so little");
  }

  /** The longest step that way, in bytes, when steps have this share of the cap. */
  private long cap(int way, double trust) {
    double receiving = Math.max(giving(-way), SMALL * cycle.budgetBytes());
    double most = Math.min(trust * options.maxStep() * giving(way), receiving);
    return (long) Math.min(room(way), most);
  }

  private long room(int way) {
    return way > 0 ? max - from : from - min;
  }

  private long giving(int way) {
    return way > 0 ? cycle.cacheBytes() : from;
  }

  private Decision stay(String reason) {
    return decided(Method.STAY, from, pressure.cost(), reason);
  }

  private Decision move(Method method, long to, String reason) {
    double predicted = Math.max(0, pressure.cost() - pressure.gain(from, to));
    if (method == Method.TAKEN_BACK) {
      predicted = progress.hold().returnCost();
    }
    return decided(method, to, predicted, reason);
  }

  private Decision decided(Method method, long to, double predicted, String reason) {
    return new Decision(
        cycle, options, pressure, method, to, predicted, Double.NaN, progress, reason);
  }

  private static String name(int way) {
    return way > 0 ? "more write memory" : "more cache";
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
