package io.isobardb.lsm.transaction;

import io.isobardb.lsm.Isolation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Tells from what transactions have seen whether they were as isolated as promised. It knows
 * nothing of the engine: each write appended an element of its own to the list that a key holds, so
 * a list tells who wrote it, and in which order (cf. Kingsbury and Alvaro: Elle, VLDB 2020); and
 * the levels are those of Adya, Liskov and O'Neil, ICDE 2000. No append may be lost: at
 * READ_COMMITTED a list must be read for update before it is appended to.
 */
public final class IsolationChecker {
  /** What a transaction saw of a key: all elements, oldest first. */
  public record Read(int key, List<Integer> elements) {}

  /**
   * A transaction.
   *
   * @param reads what it saw, without its own elements
   * @param appends the elements it appended, by key, in its order
   * @param committed whether it was
   * @param begin a time before its first operation
   * @param end a time after it was told the outcome
   */
  public record Event(
      Isolation isolation,
      List<Read> reads,
      Map<Integer, List<Integer>> appends,
      boolean committed,
      long begin,
      long end) {}

  /** Dependencies: the later one saw, or wrote over, what the earlier wrote; it came after. */
  private static final int DEPENDS = 1;

  /** The earlier one did not see what the later one wrote. */
  private static final int OVERWRITTEN = 2;

  private final List<Event> events;
  private final Map<Integer, List<Integer>> lists;
  private final Map<Integer, Integer> writers = new HashMap<>();
  private final int[][] edges;

  private IsolationChecker(List<Event> events, Map<Integer, List<Integer>> lists) {
    this.events = events;
    this.lists = lists;
    this.edges = new int[events.size()][events.size()];
  }

  /**
   * Checks a history.
   *
   * @param lists what the keys hold in the end
   * @return what is wrong, or null
   */
  public static String check(List<Event> events, Map<Integer, List<Integer>> lists) {
    IsolationChecker checker = new IsolationChecker(events, lists);
    String wrong = checker.collect();
    return wrong != null ? wrong : checker.cycles();
  }

  private String collect() {
    for (int t = 0; t < events.size(); t++) {
      for (List<Integer> elements : events.get(t).appends().values()) {
        for (int element : elements) {
          writers.put(element, t);
        }
      }
    }
    for (Map.Entry<Integer, List<Integer>> list : lists.entrySet()) {
      String wrong = collectWrites(list.getKey(), list.getValue());
      if (wrong != null) {
        return wrong;
      }
    }
    for (int t = 0; t < events.size(); t++) {
      Event event = events.get(t);
      if (event.committed()) {
        for (Map.Entry<Integer, List<Integer>> append : event.appends().entrySet()) {
          List<Integer> list = lists.getOrDefault(append.getKey(), List.of());
          if (!list.containsAll(append.getValue())) {
            return describe(t) + " lost what it appended to key " + append.getKey() + ": " + list;
          }
        }
      }
      for (Read read : event.reads()) {
        String wrong = collectRead(t, read);
        if (wrong != null) {
          return wrong;
        }
      }
    }
    for (int a = 0; a < events.size(); a++) {
      for (int b = 0; b < events.size(); b++) {
        // What has ended comes before what begins later.
        if (events.get(a).committed()
            && events.get(b).committed()
            && events.get(a).end() < events.get(b).begin()) {
          edges[a][b] |= DEPENDS;
        }
      }
    }
    return null;
  }

  private String collectWrites(int key, List<Integer> list) {
    int before = -1;
    for (int i = 0; i < list.size(); i++) {
      Integer writer = writers.get(list.get(i));
      if (writer == null || list.indexOf(list.get(i)) != i) {
        return "key " + key + " holds what nobody wrote, or twice: " + list;
      }
      if (!events.get(writer).committed()) {
        return "key " + key + " holds what was not committed, " + list.get(i) + ": " + list;
      }
      if (before >= 0 && before != writer) {
        edges[before][writer] |= DEPENDS;
      }
      before = writer;
    }
    return null;
  }

  private String collectRead(int t, Read read) {
    List<Integer> list = lists.getOrDefault(read.key(), List.of());
    List<Integer> seen = read.elements();
    if (seen.size() > list.size() || !list.subList(0, seen.size()).equals(seen)) {
      return describe(t)
          + " saw of key "
          + read.key()
          + " "
          + seen
          + ", which it never held: "
          + list;
    }
    if (!seen.isEmpty()) {
      int last = seen.get(seen.size() - 1);
      int writer = writers.get(last);
      if (!events.get(writer).committed()) {
        return describe(t) + " saw what was not committed, " + last;
      }
      List<Integer> all = events.get(writer).appends().get(read.key());
      if (writer != t && all.get(all.size() - 1) != last) {
        return describe(t) + " saw half of what " + describe(writer) + " wrote, up to " + last;
      }
      if (writer != t) {
        edges[writer][t] |= DEPENDS;
      }
    }
    if (seen.size() < list.size()) {
      int next = writers.get(list.get(seen.size()));
      if (next != t) {
        edges[t][next] |= OVERWRITTEN;
      }
    }
    return null;
  }

  private String describe(int t) {
    return "transaction " + t + " (" + events.get(t).isolation() + ")";
  }

  /** What circles there may not be, by the lowest level of the transactions in them. */
  private String cycles() {
    boolean[] all = new boolean[events.size()];
    boolean[] snapshot = new boolean[events.size()];
    boolean[] serializable = new boolean[events.size()];
    for (int t = 0; t < all.length; t++) {
      all[t] = events.get(t).committed();
      snapshot[t] = all[t] && events.get(t).isolation() != Isolation.READ_COMMITTED;
      serializable[t] = all[t] && events.get(t).isolation() == Isolation.SERIALIZABLE;
    }
    int[] circle = circle(all, 0);
    if (circle != null) {
      return "a circle of dependencies: " + Arrays.toString(circle);
    }
    circle = circle(snapshot, 1);
    if (circle != null) {
      return "a circle that no snapshots allow: " + Arrays.toString(circle);
    }
    circle = circle(serializable, 2);
    return circle == null ? null : "a circle that no order allows: " + Arrays.toString(circle);
  }

  /**
   * A circle among some transactions.
   *
   * @param overwritten 0: of dependencies alone; 1: where no two edges in a row are of the other
   *     kind; 2: of any edges
   */
  private int[] circle(boolean[] among, int overwritten) {
    int n = events.size();
    for (int start = 0; start < n; start++) {
      for (int kind = 0; kind < 2 && among[start]; kind++) {
        boolean[][] visited = new boolean[n][2];
        List<Integer> path = new ArrayList<>();
        if (walk(start, kind, start, kind, among, overwritten, visited, path)) {
          return path.stream().mapToInt(Integer::intValue).toArray();
        }
      }
    }
    return null;
  }

  /** Depth first over (transaction, whether it was entered by an OVERWRITTEN edge). */
  private boolean walk(
      int at,
      int by,
      int goal,
      int goalBy,
      boolean[] among,
      int overwritten,
      boolean[][] visited,
      List<Integer> path) {
    path.add(at);
    for (int next = 0; next < edges.length; next++) {
      for (int kind = 0; kind < 2; kind++) {
        boolean there = (edges[at][next] & (kind == 0 ? DEPENDS : OVERWRITTEN)) != 0;
        boolean allowed = kind == 0 || overwritten == 2 || overwritten == 1 && by == 0;
        if (!there || !allowed || !among[next]) {
          continue;
        }
        if (next == goal && kind == goalBy) {
          return true;
        }
        if (!visited[next][kind]) {
          visited[next][kind] = true;
          if (walk(next, kind, goal, goalBy, among, overwritten, visited, path)) {
            return true;
          }
        }
      }
    }
    path.remove(path.size() - 1);
    return false;
  }
}
