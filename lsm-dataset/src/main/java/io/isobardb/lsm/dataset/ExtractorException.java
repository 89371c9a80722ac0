package io.isobardb.lsm.dataset;

import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.ShownKey;
import io.isobardb.lsm.error.UserCode;

/** The extractor of an index failed on a record, or gave a key that can't be one. */
public final class ExtractorException extends IsobarException {
  private static final long serialVersionUID = 1L;

  ExtractorException(String index, byte[] key, String what) {
    super(message(index, key, what));
  }

  ExtractorException(String index, byte[] key, Throwable cause) {
    super(message(index, key, "failed: " + UserCode.shown(cause)), cause);
  }

  private static String message(String index, byte[] key, String what) {
    return "the extractor of index '" + index + "', on record " + ShownKey.of(key) + ", " + what;
  }
}
