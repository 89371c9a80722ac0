package io.isobardb.lsm.inspect;

import io.isobardb.lsm.error.Finding;
import java.util.List;

/**
 * What a check of a store found.
 *
 * @param findings what is wrong; empty if the store is sound
 * @param notes what is unusual but harmless: what a crash leaves behind, which opening the store
 *     puts in order
 * @param trees checked
 * @param tables SSTables checked
 * @param pages of those
 * @param entries in those, by their descriptions
 * @param tableBytes size of those
 * @param logOperations operations in the log
 * @param logBytes length of the log that opening the store would read
 */
public record CheckReport(
    List<Finding> findings,
    List<String> notes,
    int trees,
    int tables,
    long pages,
    long entries,
    long tableBytes,
    long logOperations,
    long logBytes) {

  /** {@return whether nothing is wrong} */
  public boolean isSound() {
    return findings.isEmpty();
  }
}
