package io.isobardb.lsm.version;

import io.isobardb.lsm.error.CorruptionException;
import java.nio.ByteBuffer;
import java.util.List;

/** Reads the records of one manifest file into a model. */
public final class ManifestReader {
  private final ManifestLayout.Identity identity;
  private final byte[] bytes;
  private final ByteBuffer fields;
  private final StoreContents contents;
  private boolean snapshotComplete;

  ManifestReader(ManifestLayout.Identity identity, byte[] bytes, StoreContents contents) {
    this.identity = identity;
    this.bytes = bytes;
    this.fields = ManifestLayout.buffer(bytes);
    this.contents = contents;
  }

  /** For records that are looked at one by one, whatever the others are. */
  public ManifestReader(ManifestLayout.Identity identity, byte[] bytes) {
    this(identity, bytes, new StoreContents());
  }

  /**
   * Applies all good records.
   *
   * @return where the torn tail begins, or the size of the file
   * @throws CorruptionException if a record is bad that was once good
   */
  int read() {
    int at = ManifestLayout.HEADER_BYTES;
    while (at < bytes.length) {
      if (!isRecord(at)) {
        checkTorn(at);
        break;
      }
      int payload = at + ManifestLayout.RECORD_PAYLOAD;
      int end = end(at);
      apply(fields.get(at + ManifestLayout.RECORD_KIND), at, payload, end);
      at = end;
    }
    if (!snapshotComplete) {
      throw corrupt(at, "the snapshot is not complete");
    }
    try {
      contents.tables();
    } catch (IllegalArgumentException e) {
      throw corrupt(at, "edits that do not fit: " + e.getMessage());
    }
    return at;
  }

  private void apply(byte kind, int at, int payload, int end) {
    boolean ofSnapshot = kind == ManifestLayout.SNAPSHOT || kind == ManifestLayout.SNAPSHOT_END;
    if (ofSnapshot == snapshotComplete) {
      throw corrupt(at, "a record of kind " + kind + " out of turn");
    }
    switch (kind) {
      case ManifestLayout.SNAPSHOT, ManifestLayout.EDITS -> applyEdits(at, payload, end);
      case ManifestLayout.SNAPSHOT_END -> snapshotComplete = true;
      case ManifestLayout.SYNCED -> {}
      default -> throw corrupt(at, "a record of unknown kind " + kind);
    }
  }

  private void applyEdits(int at, int payload, int end) {
    for (VersionEdit edit : EditCodec.decode(identity.fileName(), bytes, payload, end)) {
      try {
        contents.applyStored(edit);
      } catch (IllegalArgumentException e) {
        throw corrupt(at, "an edit that does not fit: " + e.getMessage());
      }
    }
  }

  /** Whether a record with a right checksum starts here. */
  public boolean isRecord(int at) {
    if (bytes.length - at < ManifestLayout.RECORD_PAYLOAD) {
      return false;
    }
    int length = fields.getInt(at + ManifestLayout.RECORD_LENGTH);
    if (length < 0
        || length > bytes.length - at - ManifestLayout.RECORD_PAYLOAD
        || fields.get(at + ManifestLayout.RECORD_KIND) == 0) {
      return false;
    }
    int end = at + ManifestLayout.RECORD_PAYLOAD + length;
    int from = at + ManifestLayout.RECORD_LENGTH;
    return fields.getInt(at) == ManifestLayout.recordChecksum(identity, at, bytes, from, end);
  }

  /** Where the record ends that starts here. */
  public int end(int at) {
    return at + ManifestLayout.RECORD_PAYLOAD + fields.getInt(at + ManifestLayout.RECORD_LENGTH);
  }

  /** The edits of the record that starts here; none if it is of a kind that has none. */
  public List<VersionEdit> edits(int at) {
    byte kind = fields.get(at + ManifestLayout.RECORD_KIND);
    return kind == ManifestLayout.SNAPSHOT || kind == ManifestLayout.EDITS
        ? EditCodec.decode(identity.fileName(), bytes, at + ManifestLayout.RECORD_PAYLOAD, end(at))
        : List.of();
  }

  /** A bad record may be a torn tail only if nothing behind it says that it was synced. */
  private void checkTorn(int bad) {
    for (int at = bad + 1; at <= bytes.length - ManifestLayout.RECORD_PAYLOAD; at++) {
      boolean promises =
          fields.get(at + ManifestLayout.RECORD_KIND) == ManifestLayout.SYNCED
              && fields.getInt(at + ManifestLayout.RECORD_LENGTH) == 0;
      if (promises && isRecord(at)) {
        throw corrupt(bad, "a bad record, though what follows at " + at + " says it was synced");
      }
    }
  }

  private CorruptionException corrupt(int at, String what) {
    return new CorruptionException(identity.fileName(), at, what);
  }
}
