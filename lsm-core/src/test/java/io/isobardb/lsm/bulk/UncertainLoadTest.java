package io.isobardb.lsm.bulk;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.ForwardingStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** A commit that fails once the manifest may have it. */
class UncertainLoadTest {
  private static final class Broken extends Error {
    private static final long serialVersionUID = 1;
  }

  /** On demand, the manifest that names new SSTables is synced, and its sync fails. */
  private static final class FailingManifest extends ForwardingStorage {
    private final Storage storage;
    private boolean armed;
    private boolean fails;

    FailingManifest(Storage storage) {
      super(storage);
      this.storage = storage;
    }

    @Override
    protected DataFile wrap(DataFile file, IoMode mode) {
      return file.name().startsWith("MANIFEST") ? new Manifest(file) : file;
    }

    @Override
    public boolean link(Storage from, String name) throws IOException {
      return storage.link(from.origin(), name);
    }

    @Override
    public Storage origin() {
      return storage.origin();
    }

    @Override
    public void syncDirectory() throws IOException {
      super.syncDirectory();
      fails = armed;
    }

    private final class Manifest extends ForwardingFile {
      Manifest(DataFile file) {
        super(file);
      }

      @Override
      public void sync() throws IOException {
        super.sync();
        if (fails) {
          throw new Broken();
        }
      }
    }
  }

  @Test
  void itsFilesStayUntilTheManifestIsReadAgain() throws IOException {
    SimulatedWorld world = new SimulatedWorld(1);
    FailingManifest disk = new FailingManifest(world.storage());
    Store store = world.open(SimulatedStores.SMALL, disk);
    Tree tree = store.openTree("tree");
    store.flush();
    try (BulkLoad load = store.bulkLoad(tree)) {
      load.add(tree, key(1), bytes("loaded"));
      disk.armed = true;
      assertThrows(Broken.class, load::commit);
    }
    disk.armed = false;
    disk.fails = false;
    assertThrows(IsobarException.class, () -> tree.put(key(2), bytes("refused")));
    store.close();
    SimulatedStorage left = world.storage().copy();
    try (Store again = new SimulatedWorld(left, 2).open(SimulatedStores.SMALL)) {
      assertArrayEquals(bytes("loaded"), again.tree("tree").get(key(1)));
    }
  }
}
