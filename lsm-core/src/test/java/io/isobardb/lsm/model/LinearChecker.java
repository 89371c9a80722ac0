package io.isobardb.lsm.model;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Whether what threads have seen of a store is as if each call had happened at one moment between
 * its beginning and its end.
 *
 * <p>A call writes some registers, reads some, or both, at once: a put one, a batch several, a scan
 * all of them. Registers hold numbers, 0 for nothing. The search is that of Wing and Gong, with
 * Lowe's memory of what was tried: calls are put in an order one by one, of those that had begun
 * before any other that is left had ended, and taken back where that leads nowhere.
 *
 * <p>It knows nothing of the engine. Calls of one register alone are judged register by register,
 * which is enough, and quick.
 */
public final class LinearChecker {
  private LinearChecker() {}

  /**
   * A call that has ended.
   *
   * @param thread who made it
   * @param begin a moment before it began
   * @param end a moment after it ended; greater than {@code begin}
   * @param reads what it saw, by register
   * @param writes what it wrote, by register; 0 for a delete
   */
  public record Call(
      int thread, long begin, long end, Map<Integer, Long> reads, Map<Integer, Long> writes) {
    static Call write(int thread, long begin, long end, int register, long value) {
      return new Call(thread, begin, end, Map.of(), Map.of(register, value));
    }

    static Call read(int thread, long begin, long end, int register, long value) {
      return new Call(thread, begin, end, Map.of(register, value), Map.of());
    }

    private Set<Integer> registers() {
      Set<Integer> registers = new HashSet<>(reads.keySet());
      registers.addAll(writes.keySet());
      return registers;
    }

    @Override
    public String toString() {
      return begin
          + ".."
          + end
          + " thread "
          + thread
          + (writes.isEmpty() ? "" : " writes " + new TreeMap<>(writes))
          + (reads.isEmpty() ? "" : " reads " + new TreeMap<>(reads));
    }
  }

  /** Null if there is such an order; else the calls, in the order they began, for a message. */
  public static @Nullable String violation(Collection<Call> calls) {
    Map<Integer, List<Call>> parts = new TreeMap<>();
    boolean apart = calls.stream().allMatch(call -> call.registers().size() <= 1);
    for (Call call : calls) {
      int part = apart && !call.registers().isEmpty() ? call.registers().iterator().next() : 0;
      parts.computeIfAbsent(part, k -> new ArrayList<>()).add(call);
    }
    for (List<Call> part : parts.values()) {
      List<Call> sorted = new ArrayList<>(part);
      sorted.sort(Comparator.comparingLong(Call::begin));
      if (!new Search(sorted).run()) {
        StringBuilder text = new StringBuilder("no order explains:");
        sorted.forEach(call -> text.append('\n').append(call));
        return text.toString();
      }
    }
    return null;
  }

  /** What was put in order so far, and what the registers hold then. */
  private record Seen(BitSet done, Map<Integer, Long> registers) {}

  private static final class Search {
    private final List<Call> calls;
    private final BitSet done = new BitSet();
    private final Map<Integer, Long> registers = new TreeMap<>();
    private final Set<Seen> tried = new HashSet<>();

    Search(List<Call> calls) {
      this.calls = calls;
    }

    boolean run() {
      if (done.cardinality() == calls.size()) {
        return true;
      }
      long firstEnd = Long.MAX_VALUE;
      for (int i = done.nextClearBit(0); i < calls.size(); i = done.nextClearBit(i + 1)) {
        firstEnd = Math.min(firstEnd, calls.get(i).end());
      }
      for (int i = done.nextClearBit(0); i < calls.size(); i = done.nextClearBit(i + 1)) {
        Call call = calls.get(i);
        if (call.begin() > firstEnd) {
          return false;
        }
        if (fits(call) && runWith(i, call)) {
          return true;
        }
      }
      return false;
    }

    private boolean fits(Call call) {
      return call.reads().entrySet().stream()
          .allMatch(read -> registers.getOrDefault(read.getKey(), 0L).equals(read.getValue()));
    }

    private boolean runWith(int i, Call call) {
      Map<Integer, Long> before = new TreeMap<>(registers);
      registers.putAll(call.writes());
      done.set(i);
      Seen seen =
          new Seen((BitSet) done.clone(), Collections.unmodifiableMap(new TreeMap<>(registers)));
      if (tried.add(seen) && run()) {
        return true;
      }
      done.clear(i);
      registers.clear();
      registers.putAll(before);
      return false;
    }
  }
}
