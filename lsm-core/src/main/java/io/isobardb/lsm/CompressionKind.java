package io.isobardb.lsm;

import io.isobardb.lsm.setting.OptionKind;

/** Takes {@link Compression}, as {@code LZ4} or {@code LZ4,last=ZSTD}. */
final class CompressionKind extends OptionKind<Compression> {
  CompressionKind() {
    super(
        Compression.class,
        "`NONE`, `LZ4` or another codec's name, and `,last=` with one for the last level");
  }

  @Override
  public Compression read(String text) {
    return Compression.parse(text);
  }
}
