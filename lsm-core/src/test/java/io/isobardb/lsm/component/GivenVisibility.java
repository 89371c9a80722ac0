package io.isobardb.lsm.component;

/** What is visible, and which snapshot is the newest, as a test says. */
public final class GivenVisibility implements Visibility {
  long visible;
  long newestSnapshot;

  private GivenVisibility(long visible, long newestSnapshot) {
    this.visible = visible;
    this.newestSnapshot = newestSnapshot;
  }

  /** All up to an LSN is visible, and there is no snapshot. */
  static GivenVisibility upTo(long lsn) {
    return new GivenVisibility(lsn, -1);
  }

  /** All is visible, and there is no snapshot. */
  public static GivenVisibility ofAll() {
    return upTo(Long.MAX_VALUE);
  }

  /** A snapshot sees each version. */
  static GivenVisibility keepingAll() {
    return new GivenVisibility(Long.MAX_VALUE, Long.MAX_VALUE);
  }

  @Override
  public long visible() {
    return visible;
  }

  @Override
  public long newestSnapshot() {
    return newestSnapshot;
  }
}
