package io.isobardb.tpcc.store;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What an acknowledged write survives: an engine's promise with given settings, which any
 * comparison of engines must tell.
 *
 * @param processEnd when the process ends without closing the store: by {@code exit}, a crash, or
 *     {@code kill -9}
 * @param machineFailure when the machine fails: power, kernel
 */
public record Survival(Loss processEnd, Loss machineFailure) {
  /** The heading of {@link #processEnd}. */
  public static final String PROCESS_END = "process ends or is killed";

  /** The heading of {@link #machineFailure}. */
  public static final String MACHINE_FAILURE = "machine fails";

  /** Every engine's promise if each write is synced before it returns. */
  public static final Survival OF_SYNCED = new Survival(Loss.NOTHING, Loss.NOTHING);

  /** Isobar's, of writes with {@code Durability.ASYNC}. */
  public static final Survival OF_ISOBAR_ASYNC = new Survival(Loss.NOTHING, Loss.LAST_INTERVAL);

  /** Both in one line. */
  public String words() {
    return PROCESS_END
        + ": "
        + processEnd.words()
        + "; "
        + MACHINE_FAILURE
        + ": "
        + machineFailure.words();
  }

  /** Both by name, for JSON. */
  public Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("processEnd", processEnd.words());
    map.put("machineFailure", machineFailure.words());
    return map;
  }
}
