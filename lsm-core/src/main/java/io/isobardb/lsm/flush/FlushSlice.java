package io.isobardb.lsm.flush;

import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.sstable.FileSink;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.Range;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A slice of a tree's memory that has been written and is not named in the manifest yet.
 *
 * @param part what it is a part of; goes on to no other slice before this one is committed
 * @param taken the range of keys that goes from memory to disk
 * @param output its SSTable; null if no entry is left of it
 * @param file that SSTable's file, to be synced; null as the output is
 * @param newestLsn the highest LSN of the entries it took, left out or not; -1 if there are none
 * @param last whether there was nothing to flush behind it
 */
record FlushSlice(
    TreeFlush part,
    Range taken,
    @Nullable SSTableMeta output,
    @Nullable FileSink file,
    long newestLsn,
    boolean last) {

  TreeHandle tree() {
    return part.tree();
  }

  /** Bytes of its SSTable. */
  long bytesWritten() {
    return output == null ? 0 : output.sizeBytes();
  }

  private List<SSTableMeta> outputs() {
    return output == null ? List.of() : List.of(output);
  }

  void sync() throws IOException {
    if (file != null) {
      file.sync();
    }
  }

  /** Deletes the file, of which nobody knows yet. */
  void discard() {
    if (file != null) {
      file.abort();
    }
  }

  /** Takes the range out of memory and puts the SSTable into L0. */
  Catalog.TreeChange change(Flusher flusher) {
    List<SSTable> fresh = new ArrayList<>(1);
    if (output != null) {
      fresh.add(flusher.engine().catalog().open(output, tree()));
    }
    L0Structure l0 = flusher.settings().l0();
    return new Catalog.TreeChange(
        tree(),
        new Catalog.Change() {
          @Override
          public VersionEdit edit(Version version, long flushedLsn) {
            VersionEdit.Builder edit = VersionEdit.of(tree().id()).flushedLsn(flushedLsn);
            List<SSTableMeta> added = outputs();
            List<Place> places = version.place(l0, added);
            for (int i = 0; i < places.size(); i++) {
              edit.add(places.get(i), added.get(i));
            }
            return edit.build();
          }

          @Override
          public List<RangeDelete> needless(Version after, TreeState memory) {
            return flusher.needlessRanges(tree(), after, memory);
          }

          @Override
          public List<Run> memory(TreeState state) {
            return without(state);
          }
        },
        fresh,
        part.cleanups(taken));
  }

  private List<Run> without(TreeState state) {
    List<Run> all = state.memory();
    int runs = part.runs();
    List<Run> left = new ArrayList<>(all.subList(0, all.size() - runs));
    for (Run run : all.subList(all.size() - runs, all.size())) {
      Run rest = run.without(taken);
      if (rest != null) {
        left.add(rest);
      }
    }
    return left;
  }
}
