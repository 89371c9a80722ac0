package io.isobardb.repair.format;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.ManifestLayout;
import io.isobardb.lsm.version.ManifestReader;
import io.isobardb.lsm.version.TreeDefinition;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What can still be made out of manifests that can't be opened: which trees there were, and what
 * SSTables were like. It is not known whether that is all.
 *
 * @param storeId the store's ID, or null if it can't be made out
 * @param trees definitions by ID
 * @param tables by file number; some are there no more
 * @param rangeDeletes by tree; those that hide nothing any more may be among them
 * @param properties of the store
 */
public record ManifestRemains(
    @Nullable UUID storeId,
    Map<Integer, TreeDefinition> trees,
    Map<Long, SSTableMeta> tables,
    Map<Integer, List<RangeDelete>> rangeDeletes,
    Map<String, String> properties) {

  /** Looks through all manifests of a directory, the newest last. */
  public static ManifestRemains read(Storage storage, PagePool pool) throws IOException {
    Reader reader = new Reader(storage, pool);
    ManifestLayout.Identity current = reader.current();
    List<String> names =
        storage.list().stream()
            .filter(name -> ManifestLayout.number(name) >= 0)
            .sorted(Comparator.comparingLong(ManifestLayout::number))
            .toList();
    if (current != null && reader.isForeign(current, names)) {
      current = null;
    }
    for (String name : names) {
      reader.manifest(name, current);
    }
    UUID id = current == null ? reader.storeId : id(current);
    return new ManifestRemains(id, reader.trees, reader.tables, reader.ranges, reader.properties);
  }

  private static UUID id(ManifestLayout.Identity identity) {
    return new UUID(identity.storeIdHigh(), identity.storeIdLow());
  }

  private static final class Reader {
    private final Storage storage;
    private final PagePool pool;
    private final Map<Integer, TreeDefinition> trees = new TreeMap<>();
    private final Map<Long, SSTableMeta> tables = new HashMap<>();
    private final Map<Integer, List<RangeDelete>> ranges = new TreeMap<>();
    private final Map<String, String> properties = new TreeMap<>();
    private @Nullable UUID storeId;

    Reader(Storage storage, PagePool pool) {
      this.storage = storage;
      this.pool = pool;
    }

    ManifestLayout.@Nullable Identity current() throws IOException {
      try {
        return storage.exists(ManifestLayout.CURRENT)
            ? ManifestLayout.checkCurrent(bytes(ManifestLayout.CURRENT), storage.path())
            : null;
      } catch (IsobarException e) {
        return null;
      }
    }

    /** Whether all manifests that say whose they are belong to another store than CURRENT. */
    boolean isForeign(ManifestLayout.Identity current, List<String> names) throws IOException {
      boolean others = false;
      for (String name : names) {
        ManifestLayout.Identity found = ManifestLayout.identity(bytes(name), name);
        if (found != null && found.isOfStore(current)) {
          return false;
        }
        others |= found != null;
      }
      return others;
    }

    void manifest(String name, ManifestLayout.@Nullable Identity current) throws IOException {
      byte[] file = bytes(name);
      ManifestLayout.Identity identity = ManifestLayout.identity(file, name);
      if (identity == null && current != null && current.fileName().equals(name)) {
        identity = current;
      }
      if (identity == null || (current != null && !id(current).equals(id(identity)))) {
        return;
      }
      storeId = id(identity);
      ManifestReader reader = new ManifestReader(identity, file);
      for (int at = ManifestLayout.HEADER_BYTES; at < file.length; ) {
        if (reader.isRecord(at)) {
          edits(reader, at);
          at = reader.end(at);
        } else {
          at++;
        }
      }
    }

    private void edits(ManifestReader reader, int at) {
      try {
        for (VersionEdit edit : reader.edits(at)) {
          TreeDefinition created = edit.created();
          if (created != null) {
            trees.put(created.id(), created);
          }
          String renamed = edit.renamed();
          if (renamed != null) {
            trees.computeIfPresent(edit.treeId(), (id, tree) -> tree.named(renamed));
          }
          edit.added().forEach(added -> tables.put(added.meta().fileNumber(), added.meta()));
          if (!edit.rangeDeletes().isEmpty()) {
            ranges
                .computeIfAbsent(edit.treeId(), id -> new ArrayList<>())
                .addAll(edit.rangeDeletes());
          }
          if (edit.dropped()) {
            trees.remove(edit.treeId());
          }
          edit.properties()
              .forEach(
                  (name, value) -> {
                    if (value.isEmpty()) {
                      properties.remove(name);
                    } else {
                      properties.put(name, value);
                    }
                  });
        }
      } catch (CorruptionException e) {
        // Nothing can be made of this record; of others perhaps.
      }
    }

    private byte[] bytes(String name) throws IOException {
      try (DataFile file = storage.open(name, IoMode.BUFFERED)) {
        byte[] bytes = new byte[(int) Math.min(file.size(), 1 << 30)];
        Block block = pool.blocks().allocate(64 << 10, Purpose.METADATA);
        try {
          Memory memory = block.memory();
          for (int done = 0; done < bytes.length; ) {
            int got = file.read(done, memory, 0, Math.min(memory.size(), bytes.length - done));
            if (got <= 0) {
              break;
            }
            memory.get(0, ByteBuffer.wrap(bytes), done, got);
            done += got;
          }
        } finally {
          pool.release(block);
        }
        return bytes;
      }
    }
  }
}
