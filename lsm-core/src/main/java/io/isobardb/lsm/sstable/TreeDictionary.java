package io.isobardb.lsm.sstable;

import io.isobardb.lsm.option.PageCodec;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import org.jspecify.annotations.Nullable;

/**
 * What a tree's SSTables of the last level are compressed with besides their codec. One file gives
 * samples, and those after it are written with what was made of them. So no merge holds back pages
 * until there is a dictionary. After some time it is made anew, since entries change.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class TreeDictionary {
  /** What samples may take, in bytes, and which part of the budget. */
  private static final int SAMPLE_BYTES = 1 << 20;

  private static final int BUDGET_SHARE = 64;

  /** Of the room that merges read ahead with, too. */
  private static final int ROOM_SHARE = 4;

  /** Less is no dictionary. */
  private static final int LEAST_BYTES = 256;

  /** A dictionary has at most this part of what samples may take. */
  private static final int DICTIONARY_SHARE = 32;

  /** A dictionary is made of so many times its size at least: half of the samples go at times. */
  static final int LEAST_SAMPLES = 12;

  /** A dictionary is replaced once so many files were begun with it. */
  private static final int LIFE_FILES = 64;

  private String codec = Codecs.NONE;
  private byte @Nullable [] dictionary;
  private int files;
  private boolean sampling;

  /** How the next file is to be stored. If it has {@link Packer#samples}, they must be ended. */
  public synchronized Packer packer(String name, TableSpace space) {
    PageCodec found = Codecs.given(name);
    if (found == null || found.dictionaryBytes() == 0) {
      return Packer.of(name);
    }
    if (!codec.equals(name)) {
      codec = name;
      dictionary = null;
    }
    files++;
    boolean due = !sampling && (dictionary == null || files >= LIFE_FILES);
    return new Packer(name, dictionary, due ? samples(found, space.pool()) : null);
  }

  private @Nullable Samples samples(PageCodec found, PagePool pool) {
    long room = Math.min(pool.limitBytes() / BUDGET_SHARE, pool.blocks().roomBytes() / ROOM_SHARE);
    int bytes = (int) Math.min(SAMPLE_BYTES, room) / pool.pageSize() * pool.pageSize();
    int wanted = Math.min(found.dictionaryBytes(), bytes / DICTIONARY_SHARE);
    int most = Math.min(wanted, PageCoder.mostDictionaryBytes(pool.pageSize()));
    Block block = most < LEAST_BYTES ? null : pool.blocks().tryAllocate(bytes, Purpose.MERGE);
    if (block == null) {
      return null;
    }
    sampling = true;
    return new Samples(this, found, pool, block, most);
  }

  /** Sampling has ended with this dictionary; empty if there is none. */
  synchronized void onSampled(String name, byte[] made) {
    sampling = false;
    if (made.length > 0 && name.equals(codec)) {
      dictionary = made;
      files = 0;
    }
  }
}
