package io.isobardb.repair.salvage;

import io.isobardb.lsm.recovery.StoreProperties;
import io.isobardb.lsm.sstable.Codecs;
import io.isobardb.lsm.sstable.FileSink;
import io.isobardb.lsm.sstable.Packer;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.SSTableWriter;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.TreeDefinition;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.repair.format.TableSalvage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The files of the store that a repair makes. One thread. */
final class RepairOutput implements AutoCloseable {
  private static final long TABLE_BYTES = 16 << 20;

  private final TableSpace space;
  private final int pageSize;
  private final Block scratch;
  private final List<SSTableMeta> spilled = new ArrayList<>();
  private long nextFile = 1;

  RepairOutput(TableSpace space, int pageSize) {
    this.space = space;
    this.pageSize = pageSize;
    this.scratch = space.pool().blocks().allocate(pageSize, Purpose.MERGE);
  }

  /** Writes what trees have of the log to SSTables, for the time being. */
  void spill(Collection<SalvagedTree> trees) {
    try {
      for (SalvagedTree tree : trees) {
        if (tree.logBytes() > 0) {
          spill(tree);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("writing to " + space.storage().path() + ": " + e, e);
    }
  }

  private void spill(SalvagedTree tree) throws IOException {
    Tables tables = new Tables(tree, Codecs.NONE, 0);
    try {
      tree.writeLog(tables.writer());
      tables.finish();
    } finally {
      tables.abort();
    }
    tree.forgetLog();
    for (SSTableMeta meta : tables.metas) {
      spilled.add(meta);
      tree.add(TableSalvage.scan(space, meta.fileNumber(), meta));
    }
  }

  /**
   * Writes a tree's SSTables.
   *
   * @param lost is told of files and keys whose newest value can't be read
   */
  List<SSTableMeta> write(
      SalvagedTree tree, String codec, int filterBitsPerKey, BiConsumer<String, byte[]> lost)
      throws IOException {
    Tables tables = new Tables(tree, codec, filterBitsPerKey);
    try {
      tree.merge(
          new SalvagedTree.Visitor() {
            @Override
            public SSTableWriter writer() throws IOException {
              return tables.writer();
            }

            @Override
            public void onLost(String file, byte[] key) {
              lost.accept(file, key);
            }
          },
          scratch.memory(),
          pageSize);
      tables.finish();
    } finally {
      tables.abort();
    }
    return tables.metas;
  }

  /** What makes a tree of these SSTables. */
  VersionEdit edit(TreeDefinition definition, List<SSTableMeta> tables) {
    VersionEdit.Builder edit = VersionEdit.of(definition.id()).create(definition);
    if (!tables.isEmpty()) {
      edit.levels(1);
      tables.forEach(meta -> edit.add(Place.level(0), meta));
    }
    return edit.build();
  }

  /**
   * Makes a store of all that was written.
   *
   * @param properties of the damaged store, as far as they are known
   */
  void commit(List<VersionEdit> trees, UUID storeId, Map<String, String> properties)
      throws IOException {
    for (SSTableMeta meta : spilled) {
      space.storage().delete(meta.fileName());
    }
    space.storage().syncDirectory();
    List<VersionEdit> edits = new ArrayList<>();
    VersionEdit.Builder store = StoreProperties.notePageSize(pageSize).nextFileNumber(nextFile);
    StoreProperties.noteOthers(store, properties);
    edits.add(store.build());
    edits.addAll(trees);
    try (Manifest manifest =
        Manifest.create(
            space.storage(),
            space.pool(),
            storeId.getMostSignificantBits(),
            storeId.getLeastSignificantBits(),
            Manifest.DEFAULT_ROLL_BYTES)) {
      manifest.append(edits);
    }
  }

  @Override
  public void close() {
    space.pool().release(scratch);
  }

  /** SSTables of one tree, one after another. */
  private final class Tables {
    private final SalvagedTree tree;
    private final String codec;
    private final int bitsPerKey;
    private final List<SSTableMeta> metas = new ArrayList<>();
    private @Nullable SSTableWriter writer;

    Tables(SalvagedTree tree, String codec, int bitsPerKey) {
      this.tree = tree;
      this.codec = codec;
      this.bitsPerKey = bitsPerKey;
    }

    /** The writer for the next key. */
    SSTableWriter writer() throws IOException {
      SSTableWriter current = writer;
      if (current != null && current.sizeBytes() >= TABLE_BYTES) {
        finish();
        current = null;
      }
      if (current == null) {
        int id = tree.definition().id();
        FileSink sink = new FileSink(space, nextFile, id, Packer.of(codec), false);
        current = new SSTableWriter(sink, tree.order(), nextFile, id, bitsPerKey);
        nextFile++;
        writer = current;
      }
      return current;
    }

    void finish() throws IOException {
      if (writer != null) {
        metas.add(writer.finish());
        writer = null;
      }
    }

    /** After a failure. */
    void abort() {
      if (writer != null) {
        writer.abort();
        writer = null;
      }
    }
  }
}
