package io.isobardb.lsm.setting;

import java.util.Locale;

/** Bytes per second, {@code auto} or {@code unlimited}. */
final class BandwidthKind extends OptionKind<Long> {
  private static final String AUTO = "auto";
  private static final String UNLIMITED = "unlimited";

  BandwidthKind() {
    super(Long.class, "`auto`, `unlimited`, or a size per second");
  }

  @Override
  public Long read(String text) {
    String value = text.trim().toLowerCase(Locale.ROOT);
    if (value.equals(AUTO)) {
      return OptionLimits.AUTO_BANDWIDTH;
    }
    if (value.equals(UNLIMITED)) {
      return Long.MAX_VALUE;
    }
    String size = value.endsWith("/s") ? value.substring(0, value.length() - 2) : value;
    long bytes;
    try {
      bytes = Sizes.parse(size);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new IllegalArgumentException(
          "it is neither auto nor unlimited nor a size per second such as 200MB", e);
    }
    if (bytes < OptionLimits.LEAST_BANDWIDTH) {
      throw new IllegalArgumentException(
          "it is less than " + Sizes.text(OptionLimits.LEAST_BANDWIDTH) + " per second");
    }
    return bytes;
  }

  @Override
  public String write(Long bytes) {
    if (bytes == OptionLimits.AUTO_BANDWIDTH) {
      return AUTO;
    }
    return bytes == Long.MAX_VALUE ? UNLIMITED : Sizes.text(bytes);
  }
}
