package io.isobardb.lsm;

import org.jspecify.annotations.Nullable;

/**
 * Tells which entries of a tree count, by a record of another tree that each of them belongs to.
 *
 * <pre>{@code
 * // Entries of an index count if their record still has them.
 * class OfRecord implements MergeFilter {
 *   public byte[] recordKey(byte[] key) {
 *     return Arrays.copyOfRange(key, 1, key.length);
 *   }
 *
 *   public boolean counts(byte[] key, byte[] record) {
 *     return record != null && record[0] == key[0];
 *   }
 * }
 * }</pre>
 *
 * <p>Thread rule: called by many threads at once, the store's own among them; must not block, nor
 * use the store.
 */
public interface MergeFilter {
  /**
   * {@return the key of the record that an entry belongs to}
   *
   * @param key the entry's; not to be changed
   */
  byte[] recordKey(byte[] key);

  /**
   * {@return whether readers count an entry} Equal arguments get equal answers.
   *
   * @param key the entry's; not to be changed
   * @param record its record, not to be changed; null if there is none
   */
  boolean counts(byte[] key, byte @Nullable [] record);
}
