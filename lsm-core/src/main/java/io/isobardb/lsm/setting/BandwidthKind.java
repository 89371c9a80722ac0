package io.isobardb.lsm.setting;

import io.isobardb.lsm.option.IoBandwidth;
import java.util.Locale;

/** Takes an {@link IoBandwidth}: bytes per second, {@code auto} or {@code unlimited}. */
final class BandwidthKind extends OptionKind<IoBandwidth> {
  BandwidthKind() {
    super(IoBandwidth.class, "`auto`, `unlimited`, or a size per second");
  }

  @Override
  public IoBandwidth read(String text) {
    String value = text.trim().toLowerCase(Locale.ROOT);
    for (IoBandwidth word : new IoBandwidth[] {IoBandwidth.auto(), IoBandwidth.unlimited()}) {
      if (value.equals(word.toString())) {
        return word;
      }
    }
    String size = value.endsWith("/s") ? value.substring(0, value.length() - 2) : value;
    long bytes;
    try {
      bytes = Sizes.parse(size);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "it is neither auto nor unlimited nor a size per second such as 200MB", e);
    }
    if (bytes < IoBandwidth.LEAST_BYTES) {
      throw new IllegalArgumentException(
          "it is less than " + Sizes.text(IoBandwidth.LEAST_BYTES) + " per second");
    }
    return IoBandwidth.of(bytes);
  }

  @Override
  public String write(IoBandwidth value) {
    return value.kind() == IoBandwidth.Kind.GIVEN
        ? Sizes.text(value.bytesPerSecond())
        : value.toString();
  }
}
