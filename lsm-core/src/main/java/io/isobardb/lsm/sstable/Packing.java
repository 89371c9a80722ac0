package io.isobardb.lsm.sstable;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.PageCodec;
import org.jspecify.annotations.Nullable;

/**
 * How the pages of an SSTable's file are stored. Immutable.
 *
 * @param codec the name of what compressed them, {@code NONE} if they are as they were
 * @param dictionaryBytes size of the dictionary behind the header page; 0 if there is none
 */
public record Packing(String codec, int dictionaryBytes) {
  /** As they were. */
  public static final Packing NONE = new Packing(Codecs.NONE, 0);

  /** By LZ4. */
  public static final Packing LZ4 = new Packing(Codecs.LZ4, 0);

  /** What files have in place of the name: of one that follows somewhere else. */
  public static final int NAMED = 2;

  /** What files have in place of the name: 0 for none, 1 for LZ4, or {@link #NAMED}. */
  public int number() {
    return isNone() && dictionaryBytes == 0
        ? 0
        : dictionaryBytes == 0 && codec.equals(Codecs.LZ4) ? 1 : NAMED;
  }

  /** Whether pages are stored as they were. */
  public boolean isNone() {
    return codec.equals(Codecs.NONE);
  }

  /** Whether it can be. */
  public boolean isValid() {
    boolean fits = dictionaryBytes >= 0 && dictionaryBytes <= PageCoder.LARGEST_DICTIONARY;
    return number() == NAMED ? fits && !isNone() && PageCodec.isName(codec) : dictionaryBytes == 0;
  }

  /** Bytes of the file that the dictionary takes, behind the header page. */
  public int dictionarySpace() {
    return dictionaryBytes == 0
        ? 0
        : (FileLayout.STORED_HEADER + dictionaryBytes + DataFile.BLOCK - 1) & -DataFile.BLOCK;
  }

  /** As that of records, whose first call for any record of the process takes 10 ms. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Packing packing
        && packing.codec.equals(codec)
        && packing.dictionaryBytes == dictionaryBytes;
  }

  @Override
  public int hashCode() {
    return codec.hashCode() + dictionaryBytes;
  }

  /** For people. */
  @Override
  public String toString() {
    return dictionaryBytes == 0
        ? codec
        : codec + " with a dictionary of " + dictionaryBytes + " bytes";
  }
}
