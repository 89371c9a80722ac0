package io.isobardb.lsm.version;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.schedule.Watched;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.repair.format.ManifestRemains;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Manifests that nobody ever wrote. */
class ManifestFuzzTest {
  private static final ManifestLayout.Identity IDENTITY = new ManifestLayout.Identity(1, 2, 1);

  /** The payload of one record. */
  @FuzzTest(maxDuration = "10m")
  void edits(byte[] payload) {
    Watched.input("edits", payload, () -> editsOf(payload));
  }

  private void editsOf(byte[] payload) {
    try {
      for (VersionEdit edit : EditCodec.decode("MANIFEST-000001", payload, 0, payload.length)) {
        EditCodec.Output out = new EditCodec.Output();
        EditCodec.encode(edit, out);
        EditCodec.decode("again", out.bytes(), 0, out.length());
      }
    } catch (CorruptionException e) {
      // Told of.
    }
    TreeDefinition.decode("0000000001.sst", payload);
  }

  /** Records with right checksums: kind, length in two bytes, payload; and so on. */
  @FuzzTest(maxDuration = "10m")
  void records(byte[] data) throws IOException {
    Watched.input("records", data, () -> recordsOf(data));
  }

  private void recordsOf(byte[] data) throws IOException {
    byte[] file = Arrays.copyOf(ManifestLayout.header(IDENTITY), 4096 + 16 * (data.length + 8));
    int end = ManifestLayout.HEADER_BYTES;
    for (int at = 0; at + 3 <= data.length; ) {
      int length = Math.min(data[at + 1] & 0xFF | (data[at + 2] & 3) << 8, data.length - at - 3);
      file[end + ManifestLayout.RECORD_KIND] = data[at];
      ByteBuffer fields = ManifestLayout.buffer(file);
      fields.putInt(end + ManifestLayout.RECORD_LENGTH, length);
      System.arraycopy(data, at + 3, file, end + ManifestLayout.RECORD_PAYLOAD, length);
      int next = end + ManifestLayout.RECORD_PAYLOAD + length;
      int from = end + ManifestLayout.RECORD_LENGTH;
      fields.putInt(end, ManifestLayout.recordChecksum(IDENTITY, end, file, from, next));
      end = next;
      at += 3 + length;
    }
    open(
        ManifestLayout.current(IDENTITY, 0, ManifestLayout.Synced.UNKNOWN),
        Arrays.copyOf(file, end));
  }

  /** The two files as they come, CURRENT first. */
  @FuzzTest(maxDuration = "10m")
  void files(byte[] data) throws IOException {
    Watched.input("files", data, () -> filesOf(data));
  }

  private void filesOf(byte[] data) throws IOException {
    int split = Math.min(data.length, ManifestLayout.CURRENT_BYTES);
    open(Arrays.copyOf(data, split), Arrays.copyOfRange(data, split, data.length));
  }

  private static void open(byte[] current, byte[] manifest) throws IOException {
    SimulatedStorage disk = new SimulatedStorage();
    write(disk, ManifestLayout.CURRENT, current);
    write(disk, IDENTITY.fileName(), manifest);
    PagePool pool = new PagePool(1 << 20, 4096);
    try {
      try (Manifest opened = Manifest.open(disk, pool, 1 << 20).manifest()) {
        opened.liveFiles();
        for (Recovered.Tree tree : opened.contents().recovered(opened, 0, 0).trees()) {
          version(tree);
        }
      } catch (CorruptionException | FormatException e) {
        // Told of.
      }
      ManifestRemains.read(disk, pool);
    } finally {
      pool.close();
    }
  }

  private static void version(Recovered.Tree tree) {
    try {
      tree.version(KeyOrder.BYTES);
    } catch (IllegalArgumentException e) {
      // An invariant does not hold.
    }
  }

  private static void write(SimulatedStorage disk, String name, byte[] content) throws IOException {
    try (DataFile file = disk.create(name, IoMode.BUFFERED)) {
      if (content.length > 0) {
        Memory memory = new Memory(ByteBuffer.allocateDirect(content.length));
        memory.put(0, content, 0, content.length);
        file.write(0, memory, 0, content.length);
      }
    }
  }
}
