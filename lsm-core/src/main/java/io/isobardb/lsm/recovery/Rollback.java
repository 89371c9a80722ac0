package io.isobardb.lsm.recovery;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.SSTableWriter;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Takes an unlogged tree back to the last checkpoint: SSTables with newer entries are written anew
 * without them, in the same place, by one edit. What the checkpoint sees is all there, since merges
 * keep it.
 *
 * <p>Interrupted at any moment, it is done again by the next open, with the same result. One
 * thread; nobody else uses the tree.
 */
final class Rollback {
  private final Engine engine;
  private final TreeHandle tree;
  private final long checkpoint;
  private final Map<Long, SSTable> tables = new HashMap<>();
  private final VersionEdit.Builder edit;
  private final List<SSTable> fresh = new ArrayList<>();
  private boolean needed;

  /**
   * @param checkpoint entries with greater LSNs go
   * @param deletes the range deletes that the manifest has; the tree has none of those to go
   */
  Rollback(Engine engine, TreeHandle tree, long checkpoint, List<RangeDelete> deletes) {
    this.engine = engine;
    this.tree = tree;
    this.checkpoint = checkpoint;
    this.edit = VersionEdit.of(tree.id());
    if (deletes.stream().anyMatch(delete -> delete.lsn() > checkpoint)) {
      needed = true;
      edit.resetRanges();
      tree.states().current().version().rangeDeletes().list().forEach(edit::deleteRange);
    }
    for (Run run : tree.states().current().disk()) {
      for (Table table : run.tables()) {
        if (table instanceof Table.Stored stored) {
          tables.put(stored.content().meta().fileNumber(), stored.content());
        }
      }
    }
  }

  /** Checks that the SSTables to be written anew can be read. Changes nothing on disk. */
  void check() throws IOException {
    for (SSTable table : tables.values()) {
      if (table.meta().maxLsn() > checkpoint && table.meta().minLsn() <= checkpoint) {
        table.checkFormat();
      }
    }
  }

  void run() throws IOException {
    Version version = tree.states().current().version();
    for (PlacedRun placed : version.placedRuns()) {
      takeBack(placed.place(), placed.run());
    }
    if (needed) {
      VersionEdit built = edit.build();
      engine.catalog().commit(tree, (before, flushedLsn) -> built, fresh, List.of());
    }
  }

  private void takeBack(Place place, Level<SSTableMeta> run) throws IOException {
    for (SSTableMeta meta : run.elements()) {
      if (meta.maxLsn() <= checkpoint) {
        continue;
      }
      needed = true;
      edit.remove(meta.fileNumber());
      SSTable table = tables.get(meta.fileNumber());
      if (table == null) {
        throw new IllegalStateException(meta.fileName() + " is in no run");
      }
      SSTableMeta rest = meta.minLsn() > checkpoint ? null : rewrite(table);
      if (rest != null) {
        edit.add(place, rest);
        fresh.add(engine.catalog().open(rest, tree));
      }
    }
  }

  private @Nullable SSTableMeta rewrite(SSTable table) throws IOException {
    SSTableWriter writer = null;
    try (EntryCursor cursor = engine.mergeCursor(new Table.Stored(table))) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        if (cursor.lsn() <= checkpoint) {
          if (writer == null) {
            writer = writer();
          }
          writer.add(cursor.leaf(), cursor.lsn());
        }
      }
      SSTableMeta meta = writer == null ? null : writer.finish();
      writer = null;
      return meta;
    } finally {
      if (writer != null) {
        writer.abort();
      }
    }
  }

  private SSTableWriter writer() throws IOException {
    return engine.catalog().newTable(tree, engine.catalog().space(), false);
  }
}
