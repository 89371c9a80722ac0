package io.isobardb.lsm.simulation;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.system.ProcessMemory;
import io.isobardb.memory.system.Region;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A simulated file: what a reader sees, what is durable, and in between the changes of which power
 * loss may keep any part.
 *
 * <p>A change remembers the blocks it touched as they were after it. Thus a sector's possible
 * states after power loss are the durable one and the one after each unsynced change, as when the
 * operating system writes a cached page back at any time.
 */
final class SimulatedInode {
  /** Blocks from {@code firstBlock} on and the size, as they were after mutation {@code number}. */
  private record Change(long number, int firstBlock, byte[][] after, long sizeAfter) {}

  private final SimulatedContent visible;
  private final SimulatedContent durable;
  private final List<Change> unsynced;

  /** How many states of mapped memory are remembered; the system has written older ones back. */
  private static final int MAPPED_VERSIONS = 64;

  /** Memory that stands for bytes of the file from {@link #mappedAt} on. */
  private @Nullable Region mapped;

  private long mappedAt;

  /** Open handles. */
  int handles;

  SimulatedInode() {
    this(new SimulatedContent(), new SimulatedContent(), new ArrayList<>());
  }

  private SimulatedInode(
      SimulatedContent visible, SimulatedContent durable, List<Change> unsynced) {
    this.visible = visible;
    this.durable = durable;
    this.unsynced = unsynced;
  }

  /** A file that holds {@code content}, all of it durable. */
  static SimulatedInode durable(SimulatedContent content) {
    return new SimulatedInode(content, content.copy(), new ArrayList<>());
  }

  /** The same, to be changed independently, without handles. */
  SimulatedInode copy() {
    return new SimulatedInode(visible.copy(), durable.copy(), new ArrayList<>(unsynced));
  }

  /** What a reader sees; not to be changed. */
  SimulatedContent visible() {
    return visible;
  }

  void write(long number, long offset, Memory source, int sourceOffset, int length) {
    if (length == 0) {
      return;
    }
    capture(number);
    visible.write(offset, source, sourceOffset, length);
    Region region = mapped;
    if (region != null) {
      long from = Math.max(offset, mappedAt);
      long to = Math.min(offset + length, mappedAt + region.memory().size());
      if (from < to) {
        visible.read(from, region.memory(), (int) (from - mappedAt), (int) (to - from));
      }
    }
    int first = (int) (offset / SimulatedContent.BLOCK);
    int last = (int) ((offset + length - 1) / SimulatedContent.BLOCK);
    remember(number, first, last + 1);
  }

  /** Maps a part of the file. All mappings share their memory, so they must be of the same part. */
  Memory map(long offset, int length) {
    Region known = mapped;
    if (known != null) {
      if (offset != mappedAt || length != known.memory().size()) {
        throw new IllegalStateException("another part is mapped already");
      }
      return known.memory();
    }
    Region region = ProcessMemory.blocks().take(length);
    visible.read(offset, region.memory(), 0, length);
    mapped = region;
    mappedAt = offset;
    return region.memory();
  }

  /** No handle is left: what was stored in mapped memory stays in the file. */
  void unmap(long number) {
    capture(number);
    Region region = mapped;
    mapped = null;
    if (region != null) {
      region.free();
    }
  }

  /**
   * Takes over what was stored in mapped memory since the last time, as a change with this number.
   * The system may write such pages back at any time, and here it does so with the oldest ones.
   */
  void capture(long number) {
    Region region = mapped;
    if (region == null) {
      return;
    }
    Memory memory = region.memory();
    byte[] block = new byte[SimulatedContent.BLOCK];
    for (int at = 0; at < memory.size(); at += SimulatedContent.BLOCK) {
      int index = (int) ((mappedAt + at) / SimulatedContent.BLOCK);
      byte[] known = visible.block(index);
      if (memory.compare(at, known.length, known, 0, known.length) != 0) {
        if (known == SimulatedContent.HOLE) {
          throw new AssertionError("a store to mapped memory that the disk has no block for");
        }
        memory.get(at, block, 0, block.length);
        visible.setBlock(index, block.clone());
        remember(number, index, index + 1);
      }
    }
    while (unsynced.size() > MAPPED_VERSIONS) {
      apply(unsynced.remove(0), durable);
    }
  }

  /** Cuts the file off; nothing happens if it is not longer. */
  void truncate(long number, long size) {
    if (size < visible.size()) {
      int end = visible.blockCount();
      visible.resize(size);
      remember(number, (int) (size / SimulatedContent.BLOCK), end);
    }
  }

  private void remember(long number, int first, int end) {
    byte[][] after = new byte[end - first][];
    for (int i = first; i < end; i++) {
      after[i - first] = visible.block(i);
    }
    unsynced.add(new Change(number, first, after, visible.size()));
  }

  /** Makes all changes since the last sync durable. */
  void sync() {
    for (Change change : unsynced) {
      apply(change, durable);
    }
    unsynced.clear();
  }

  /** The operating system has given up on what was to be synced, but shows it to readers. */
  void failSync() {
    unsynced.clear();
  }

  /** The number of the oldest change that is not durable, or {@code none}. */
  long oldestUnsynced(long none) {
    return unsynced.isEmpty() ? none : unsynced.get(0).number;
  }

  private static void apply(Change change, SimulatedContent target) {
    for (int i = 0; i < change.after.length; i++) {
      target.setBlock(change.firstBlock + i, change.after[i]);
    }
    if (change.sizeAfter < target.size()) {
      target.resize(change.sizeAfter);
    } else {
      target.setSize(change.sizeAfter);
    }
  }

  /** The content after power loss if nothing unsynced survives. */
  SimulatedContent onlySynced() {
    return durable.copy();
  }

  /** The content after power loss if everything survives. */
  SimulatedContent all() {
    SimulatedContent image = durable.copy();
    unsynced.forEach(change -> apply(change, image));
    return image;
  }

  /** The content after power loss in the midst of mutation {@code number}. */
  SimulatedContent prefix(long number, SplittableRandom random) {
    SimulatedContent image = durable.copy();
    for (Change change : unsynced) {
      if (change.number < number) {
        apply(change, image);
      } else if (change.number == number) {
        int sectors = change.after.length * (SimulatedContent.BLOCK / SimulatedContent.SECTOR);
        int kept = random.nextInt(sectors + 1);
        tear(change, kept, image);
        if (kept < sectors) {
          break;
        }
      }
    }
    return image;
  }

  /** Applies the first {@code sectors} sectors of a change. */
  private static void tear(Change change, int sectors, SimulatedContent target) {
    int perBlock = SimulatedContent.BLOCK / SimulatedContent.SECTOR;
    for (int i = 0; i * perBlock < sectors; i++) {
      byte[] block = target.block(change.firstBlock + i).clone();
      int bytes = Math.min(perBlock, sectors - i * perBlock) * SimulatedContent.SECTOR;
      System.arraycopy(change.after[i], 0, block, 0, bytes);
      target.setBlock(change.firstBlock + i, block);
    }
    boolean whole = sectors == change.after.length * perBlock;
    long reached = change.firstBlock * (long) SimulatedContent.BLOCK;
    reached += (long) sectors * SimulatedContent.SECTOR;
    if (whole || change.sizeAfter < target.size()) {
      target.resize(change.sizeAfter);
    } else {
      target.resize(Math.max(target.size(), Math.min(change.sizeAfter, reached)));
    }
  }

  /**
   * The content after power loss if each unsynced sector is in any of its versions.
   *
   * @param stale blocks that may show up where nothing was written
   */
  SimulatedContent random(SplittableRandom random, List<byte[]> stale) {
    SimulatedContent image = durable.copy();
    Map<Integer, List<byte[]>> versions = new TreeMap<>();
    List<Long> sizes = new ArrayList<>();
    for (Change change : unsynced) {
      sizes.add(change.sizeAfter);
      for (int i = 0; i < change.after.length; i++) {
        versions
            .computeIfAbsent(change.firstBlock + i, block -> new ArrayList<>())
            .add(change.after[i]);
      }
    }
    int percent = random.nextInt(101);
    versions.forEach(
        (block, all) -> image.setBlock(block, mix(block, all, percent, random, stale)));
    if (!sizes.isEmpty() && random.nextInt(4) != 0) {
      boolean last = random.nextBoolean();
      image.resize(sizes.get(last ? sizes.size() - 1 : random.nextInt(sizes.size())));
    } else {
      image.resize(durable.size());
    }
    return image;
  }

  /** One block, as a mix of its versions. A sector advances with {@code percent} probability. */
  private byte[] mix(
      int block, List<byte[]> versions, int percent, SplittableRandom random, List<byte[]> stale) {
    byte[] mixed = durable.block(block).clone();
    if (block >= durable.blockCount()) {
      fillUnwritten(mixed, random, stale);
    }
    boolean torn = random.nextInt(3) == 0;
    int step = torn ? SimulatedContent.SECTOR : SimulatedContent.BLOCK;
    for (int at = 0; at < SimulatedContent.BLOCK; at += step) {
      if (random.nextInt(100) < percent) {
        boolean newest = random.nextInt(4) != 0;
        int version = newest ? versions.size() - 1 : random.nextInt(versions.size());
        System.arraycopy(versions.get(version), at, mixed, at, step);
      }
    }
    return mixed;
  }

  private static void fillUnwritten(byte[] block, SplittableRandom random, List<byte[]> stale) {
    switch (random.nextInt(4)) {
      case 0 -> random.nextBytes(block);
      case 1 -> {
        if (!stale.isEmpty()) {
          byte[] old = stale.get(random.nextInt(stale.size()));
          System.arraycopy(old, 0, block, 0, block.length);
        }
      }
      default -> Arrays.fill(block, (byte) 0);
    }
  }
}
