package io.isobardb.cli.inspect;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.TextTable;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A dump as text: a block per tree, a table per run. */
final class DumpText {
  private static final int LONGEST_KEY = 40;

  private DumpText() {}

  static void print(Map<String, Object> store, PrintWriter out) {
    store.forEach(
        (name, value) -> {
          if (!name.equals("trees")) {
            out.printf(Locale.ROOT, "%-15s %s%n", name, value);
          }
        });
    for (Map<String, Object> tree : list(store, "trees")) {
      out.println();
      out.println("tree '" + tree.get("name") + "', ID " + tree.get("id"));
      out.println("  options    " + tree.get("options"));
      out.println("  flushedLsn " + tree.get("flushedLsn"));
      for (Map<String, Object> range : list(tree, "rangeDeletes")) {
        out.printf(
            Locale.ROOT,
            "  deleted    [%s, %s) at LSN %s, %s%n",
            range.get("from"),
            range.get("to"),
            range.get("lsn"),
            range.get("where"));
      }
      list(tree, "runs").forEach(run -> printRun(run, out));
      if (tree.containsKey("entries")) {
        out.println();
        out.println("in SSTables:");
        out.print(entries(list(tree, "entries"), true));
        out.println();
        out.println("in the log:");
        out.print(entries(list(tree, "log"), false));
      }
    }
  }

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> list(Map<String, Object> of, String name) {
    Object value = of.get(name);
    return value == null ? List.of() : (List<Map<String, Object>>) value;
  }

  private static void printRun(Map<String, Object> run, PrintWriter out) {
    List<Map<String, Object>> tables = list(run, "tables");
    out.println();
    out.println(run.get("run") + ": " + Numbers.count(tables.size(), "SSTable"));
    if (tables.isEmpty()) {
      return;
    }
    TextTable text =
        new TextTable("file", "size", "pages", "entries", "deletes", "LSNs", "codec", "keys");
    for (Map<String, Object> table : tables) {
      text.row(
          string(table, "file"),
          ByteSize.format(((Number) table.getOrDefault("bytes", 0)).doubleValue()),
          string(table, "pages"),
          string(table, "entries"),
          string(table, "deletes"),
          string(table, "minLsn") + ".." + string(table, "maxLsn"),
          string(table, "codec"),
          shorten(string(table, "minKey")) + " .. " + shorten(string(table, "maxKey")));
    }
    out.print(text);
  }

  private static String entries(List<Map<String, Object>> entries, boolean withRun) {
    TextTable text = new TextTable("key", "LSN", "kind", "value bytes", withRun ? "run" : "");
    for (Map<String, Object> entry : entries) {
      if (entry.containsKey(StoreDump.MORE)) {
        text.row("... and more: see --limit", "", "", "", "");
      } else {
        text.row(
            string(entry, "key"),
            string(entry, "lsn"),
            string(entry, "kind")
                + (entry.containsKey("expires") ? " until " : "")
                + entry.getOrDefault("expires", ""),
            string(entry, "valueBytes"),
            withRun ? string(entry, "run") : "");
      }
    }
    return text.toString();
  }

  private static String string(Map<String, Object> of, String name) {
    return String.valueOf(of.get(name));
  }

  private static String shorten(String key) {
    return key.length() <= LONGEST_KEY ? key : key.substring(0, LONGEST_KEY) + "~";
  }
}
