package io.isobardb.cli.inspect;

import io.isobardb.lsm.inspect.StoredCounters;
import io.isobardb.lsm.inspect.StoredEntry;
import io.isobardb.lsm.inspect.StoredRange;
import io.isobardb.lsm.inspect.StoredTree;
import io.isobardb.repair.StoreInspector;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a store consists of, as maps and lists that become JSON or text. */
final class StoreDump {
  /** The key of an element that says that a list was cut. */
  static final String MORE = "more";

  private final StoreInspector store;

  StoreDump(StoreInspector store) {
    this.store = store;
  }

  Map<String, Object> store() {
    StoredCounters counters = store.counters();
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("store", store.storeId().toString());
    all.put("path", store.path());
    all.put("manifest", counters.manifest());
    all.put("pageSize", store.pageSize());
    all.put("logStartLsn", counters.logStartLsn());
    all.put("checkpointLsn", counters.checkpointLsn());
    all.put("nextFileNumber", counters.nextFileNumber());
    all.put("nextTreeId", counters.nextTreeId());
    String unlocked = store.unlockedBecause();
    if (unlocked != null) {
      all.put("not locked", unlocked);
    }
    return all;
  }

  static Map<String, Object> tree(StoredTree tree) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("name", tree.name());
    all.put("id", tree.id());
    all.put("options", tree.options());
    all.put("flushedLsn", tree.flushedLsn());
    all.put("runs", tree.runs().stream().map(run -> run(run, tree.order() != null)).toList());
    return all;
  }

  /** The range deletes of a tree that may hide something. */
  List<Map<String, Object>> rangeDeletes(StoredTree tree) throws IOException {
    List<Map<String, Object>> all = new ArrayList<>();
    for (StoredRange range : store.rangeDeletes(tree)) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("from", bound(range.from()));
      one.put("to", bound(range.to()));
      one.put("lsn", range.lsn());
      one.put("where", range.where());
      all.add(one);
    }
    return all;
  }

  private static String bound(byte @Nullable [] key) {
    return key == null ? "" : KeyText.format(key);
  }

  private static Map<String, Object> run(StoredTree.Run found, boolean whole) {
    Map<String, Object> run = new LinkedHashMap<>();
    run.put("run", found.name());
    if (whole) {
      run.put("bytes", found.bytes());
    }
    run.put("tables", found.tables().stream().map(StoreDump::table).toList());
    return run;
  }

  private static Map<String, Object> table(StoredTree.Table found) {
    Map<String, Object> table = new LinkedHashMap<>();
    table.put("file", found.file());
    table.put("bytes", found.bytes());
    table.put("pages", found.pages());
    table.put("entries", found.entries());
    table.put("deletes", found.deletes());
    table.put("minKey", KeyText.format(found.keys().first()));
    table.put("maxKey", KeyText.format(found.keys().last()));
    table.put("minLsn", found.lsns().lowest());
    table.put("maxLsn", found.lsns().highest());
    table.put("indexHeight", found.format().indexHeight());
    table.put("filterBlocks", found.format().filterBlocks());
    table.put("codec", found.format().codec());
    return table;
  }

  /** Entries in SSTables, by key; of one key the newest first. */
  List<Map<String, Object>> entries(
      StoredTree tree, byte @Nullable [] from, byte @Nullable [] to, int limit) {
    List<Map<String, Object>> entries = new ArrayList<>();
    store.entries(
        tree,
        from,
        to,
        at -> {
          if (entries.size() < limit) {
            Map<String, Object> entry = entry(at);
            entry.put("run", at.where());
            entries.add(entry);
            return true;
          }
          entries.add(Map.of(MORE, true));
          return false;
        });
    return entries;
  }

  private static Map<String, Object> entry(StoredEntry at) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("key", KeyText.format(at.key()));
    entry.put("lsn", at.lsn());
    entry.put("kind", at.merge() ? "MERGE" : at.delete() ? "DELETE" : "PUT");
    entry.put("valueBytes", at.valueBytes());
    if (at.expires() != null) {
      entry.put("expires", at.expires().toString());
    }
    return entry;
  }

  /** Operations in the log, in their order. */
  List<Map<String, Object>> operations(
      StoredTree tree, byte @Nullable [] from, byte @Nullable [] to, int limit) throws IOException {
    List<Map<String, Object>> operations = new ArrayList<>();
    store.log(
        tree,
        from,
        to,
        at -> {
          boolean more = operations.size() < limit;
          operations.add(more ? entry(at) : Map.of(MORE, true));
          return more;
        });
    return operations;
  }
}
