package io.isobardb.lsm.sstable;

import org.jspecify.annotations.Nullable;

/**
 * How the pages of a new file are to be stored.
 *
 * @param codec the name of what compresses them, or {@code NONE}
 * @param dictionary what it takes besides; not to be changed
 * @param samples gets pages, for a dictionary of later files
 */
public record Packer(String codec, byte @Nullable [] dictionary, @Nullable Samples samples) {
  /** As they are. */
  public static final Packer NONE = of(Codecs.NONE);

  /** By a codec, without a dictionary. */
  public static Packer of(String codec) {
    return new Packer(codec, null, null);
  }

  /** Ends what no file has come of. */
  public void abandon() {
    if (samples != null) {
      samples.abort();
    }
  }

  /** What the file says of it. */
  Packing packing() {
    return new Packing(codec, dictionary == null ? 0 : dictionary.length);
  }
}
