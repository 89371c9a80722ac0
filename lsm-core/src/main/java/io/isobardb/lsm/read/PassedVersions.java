package io.isobardb.lsm.read;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.operand.OperandChain;
import java.util.ArrayList;
import java.util.List;

/**
 * The versions of a key that a cursor has gone back over, of a tree with a merge operator: those
 * that its value may be made of.
 *
 * <p>Made for reuse. Thread rule: one thread at a time.
 */
final class PassedVersions {
  /** From the oldest to the newest. */
  private final List<Version> versions = new ArrayList<>();

  private record Version(int kind, long lsn, byte[] value, long expiry) {}

  /** Begins with a key. Of the one before some may be left, if the way over it was cut off. */
  void begin() {
    versions.clear();
  }

  /**
   * Takes up a version, which is newer than those before.
   *
   * @param counts whether it is a value or an operand, and not hidden
   */
  void pass(LeafCursor entry, long lsn, boolean counts) {
    int kind = Kind.inline(entry.kind());
    if (!counts || kind != Kind.MERGE) {
      versions.clear();
    }
    if (counts) {
      versions.add(new Version(kind, lsn, OperandChain.value(entry), entry.expiry()));
    }
  }

  /** Gives all of them to a chain, which is cleared first; none are left. */
  void moveTo(OperandChain chain) {
    chain.clear();
    for (int i = versions.size() - 1; i >= 0; i--) {
      Version version = versions.get(i);
      chain.add(version.kind, version.lsn, version.value, version.expiry);
    }
    versions.clear();
  }
}
