package io.isobardb.lsm.merge;

import io.isobardb.lsm.commit.FullL0;
import io.isobardb.lsm.merge.MergeChoice.Slot;
import io.isobardb.lsm.option.MergeSchedule;
import java.util.Set;

/**
 * Which disk merges may run now: a pure function, by a {@link MergeSchedule} and by what must not
 * wait. Immutable.
 *
 * <p>Postponed merges give way before writers feel it. L0 is merged from one group below the limit
 * where writers are slowed down. All is merged if that does not help, once three quarters of the
 * debt wait that slows writers down, or once the disk has little room beyond what merges of that
 * debt may need.
 *
 * @param schedule what the user chose
 * @param slowDebtBytes from how much debt on writers are slowed down
 * @param reserveBytes of the disk, for flushes meanwhile
 */
public record MergeTiming(MergeSchedule schedule, long slowDebtBytes, long reserveBytes) {
  private static final Set<Slot> ALL = Set.of(Slot.L0, Slot.DEEP);

  /** A delay after the last write is seen to be over within this part of it. */
  private static final int LOOKS = 4;

  private static final long LEAST_PROBE_NANOS = 1_000_000;

  /** What clients use changes as fast. */
  private static final long SILK_PROBE_NANOS = 10_000_000;

  private static final long ADAPTIVE_PROBE_NANOS = 20_000_000;

  /**
   * What is seen of a store.
   *
   * @param bytesPerSecond what users wrote lately
   * @param quietNanos for how long nobody has been seen to write
   * @param l0 of the tree whose L0 is fullest
   * @param debtBytes what waits for merges
   * @param freeBytes of the disk
   * @param awaited whether somebody waits for merges
   * @param burst whether users write a burst that may end soon
   * @param spareBytes what clients leave of the device in a second, beyond what flushes and merges
   *     of L0 are to have; below 0 if they leave less
   */
  record View(
      long bytesPerSecond,
      long quietNanos,
      FullL0 l0,
      long debtBytes,
      long freeBytes,
      boolean awaited,
      boolean burst,
      long spareBytes) {}

  /**
   * What may run.
   *
   * @param slots merges that may begin; those of {@link Slot#L0} that have begun go on in any case,
   *     and {@link Slot#GATHER} goes with them; others are paused
   * @param reason for messages
   */
  record Choice(Set<Slot> slots, String reason) {
    /** Whether deeper merges go on. */
    boolean all() {
      return slots.contains(Slot.DEEP);
    }
  }

  /** Whether there is anything to decide. */
  public boolean decides() {
    return schedule.kind() != MergeSchedule.Kind.ALWAYS;
  }

  /** How often to look. */
  long probeNanos() {
    long nanos = schedule.duration().toNanos();
    return switch (schedule.kind()) {
      case AFTER_LAST_WRITE -> Math.max(LEAST_PROBE_NANOS, nanos / LOOKS);
      case SILK -> SILK_PROBE_NANOS;
      case ADAPTIVE -> ADAPTIVE_PROBE_NANOS;
      case ALWAYS, BELOW_THROUGHPUT -> Math.max(LEAST_PROBE_NANOS, nanos);
    };
  }

  Choice choose(View view) {
    if (!decides()) {
      return new Choice(ALL, "always");
    }
    if (!busy(view)) {
      return new Choice(ALL, "nobody writes much");
    }
    if (view.awaited()) {
      return new Choice(ALL, "somebody waits for merges");
    }
    if (view.debtBytes() >= slowDebtBytes / 4 * 3) {
      return new Choice(ALL, "too much waits for merges");
    }
    if (view.freeBytes() - 2 * view.debtBytes() < reserveBytes) {
      return new Choice(ALL, "the disk has little room");
    }
    if (view.l0().nearlyFull()) {
      return new Choice(ALL, "L0 is nearly full");
    }
    if (schedule.kind() == MergeSchedule.Kind.SILK) {
      return new Choice(Set.of(Slot.L0), "clients need the device");
    }
    if (view.l0().nearlySlows()) {
      return new Choice(Set.of(Slot.L0), "L0 has many groups");
    }
    return new Choice(Set.of(), "users write");
  }

  private boolean busy(View view) {
    return switch (schedule.kind()) {
      case ALWAYS -> false;
      case BELOW_THROUGHPUT -> view.bytesPerSecond() >= schedule.bytesPerSecond();
      case AFTER_LAST_WRITE -> view.quietNanos() < schedule.duration().toNanos();
      case SILK -> view.spareBytes() < 0;
      case ADAPTIVE -> view.burst();
    };
  }
}
