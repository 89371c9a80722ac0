package io.isobardb.cli.inspect;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.recovery.StoreInspector;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Group;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.Version;
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
    Recovered.Counters counters = store.recovered().counters();
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("store", store.storeId().toString());
    all.put("path", store.path());
    all.put("manifest", store.recovered().manifest().fileName());
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

  Map<String, Object> tree(Recovered.Tree tree) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("name", tree.definition().name());
    all.put("id", tree.definition().id());
    all.put("options", tree.definition().options());
    all.put("flushedLsn", tree.flushedLsn());
    List<Map<String, Object>> runs = new ArrayList<>();
    Version version = version(tree);
    if (version != null) {
      for (Group group : version.groups()) {
        runs.add(run("L0 group " + group.number(), group.run()));
      }
      for (int i = 1; i <= version.levelCount(); i++) {
        runs.add(run("L" + i, version.level(i)));
      }
    } else {
      // Without the order of keys there are no runs, only SSTables and their places.
      tree.tables()
          .forEach(
              added ->
                  runs.add(
                      Map.of(
                          "run",
                          added.place().toString(),
                          "tables",
                          List.of(table(added.meta())))));
    }
    all.put("runs", runs);
    return all;
  }

  private @Nullable Version version(Recovered.Tree tree) {
    KeyOrder order = store.order(tree);
    return order == null ? null : tree.version(order);
  }

  private static Map<String, Object> run(String name, Level<SSTableMeta> level) {
    Map<String, Object> run = new LinkedHashMap<>();
    run.put("run", name);
    run.put("bytes", level.sizeBytes());
    run.put("tables", level.elements().stream().map(StoreDump::table).toList());
    return run;
  }

  private static Map<String, Object> table(SSTableMeta meta) {
    Map<String, Object> table = new LinkedHashMap<>();
    table.put("file", meta.fileName());
    table.put("bytes", meta.sizeBytes());
    table.put("pages", meta.pageCount());
    table.put("entries", meta.entries());
    table.put("deletes", meta.deletes());
    table.put("minKey", KeyText.format(meta.minKey()));
    table.put("maxKey", KeyText.format(meta.maxKey()));
    table.put("minLsn", meta.minLsn());
    table.put("maxLsn", meta.maxLsn());
    table.put("indexHeight", meta.indexHeight());
    table.put("filterBlocks", meta.filterBlocks());
    table.put("codec", meta.codec() == 0 ? "NONE" : "LZ4");
    return table;
  }

  /** Entries in SSTables, by key; of one key the newest first. */
  List<Map<String, Object>> entries(
      Recovered.Tree tree, byte @Nullable [] from, byte @Nullable [] to, int limit) {
    List<Map<String, Object>> entries = new ArrayList<>();
    List<String> runs = new ArrayList<>();
    Version version = version(tree);
    if (version != null) {
      version.groups().forEach(group -> runs.add("L0 group " + group.number()));
      for (int i = 1; i <= version.levelCount(); i++) {
        if (!version.level(i).isEmpty()) {
          runs.add("L" + i);
        }
      }
    }
    store.entries(
        tree,
        from,
        to,
        (at, run) -> {
          if (entries.size() == limit) {
            entries.add(Map.of(MORE, true));
            return false;
          }
          entries.add(entry(at, runs.get(run)));
          return true;
        });
    return entries;
  }

  private static Map<String, Object> entry(EntryCursor at, String run) {
    Map<String, Object> entry = operation(at.key(), 0, at.keyLength(), at.lsn(), at.kind());
    entry.put("valueBytes", at.valueLength());
    entry.put("run", run);
    return entry;
  }

  private static Map<String, Object> operation(
      byte[] key, int offset, int length, long lsn, int kind) {
    Map<String, Object> operation = new LinkedHashMap<>();
    operation.put("key", KeyText.format(key, offset, length));
    operation.put("lsn", lsn);
    operation.put("kind", kind == Kind.DELETE ? "DELETE" : "PUT");
    return operation;
  }

  /** Operations in the log, in their order. */
  List<Map<String, Object>> operations(
      Recovered.Tree tree, byte @Nullable [] from, byte @Nullable [] to, int limit)
      throws IOException {
    KeyOrder order = store.order(tree);
    KeyOrder by = order == null ? KeyOrder.BYTES : order;
    List<Map<String, Object>> operations = new ArrayList<>();
    store.log(
        (lsn, kind, treeId, bytes, keyOffset, keyLength, valueBytes) -> {
          if (treeId != tree.definition().id()
              || from != null && by.compare(bytes, keyOffset, keyLength, from, 0, from.length) < 0
              || to != null && by.compare(bytes, keyOffset, keyLength, to, 0, to.length) >= 0
              || operations.size() > limit) {
            return;
          }
          if (operations.size() == limit) {
            operations.add(Map.of(MORE, true));
            return;
          }
          Map<String, Object> operation = operation(bytes, keyOffset, keyLength, lsn, kind);
          operation.put("valueBytes", valueBytes);
          operations.add(operation);
        });
    return operations;
  }
}
