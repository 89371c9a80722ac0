package io.isobardb.memory.page;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The CRC32C of ranges of one region. Makes no garbage, unlike {@link Memory#update}: for many
 * small sums.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class MemoryChecksum {
  private final CRC32C crc = new CRC32C();
  private final ByteBuffer view;

  MemoryChecksum(ByteBuffer view) {
    this.view = view;
  }

  public void reset() {
    crc.reset();
  }

  /**
   * Adds a range.
   *
   * @throws IllegalArgumentException if it is not within the region
   */
  public void update(int offset, int length) {
    view.limit(offset + length).position(offset);
    crc.update(view);
  }

  /** The sum of all ranges since {@link #reset}. */
  public int value() {
    return (int) crc.getValue();
  }
}
