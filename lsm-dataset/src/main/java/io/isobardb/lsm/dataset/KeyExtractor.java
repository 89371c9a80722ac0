package io.isobardb.lsm.dataset;

import java.util.Collection;

/**
 * Tells under which index keys a record is to be found.
 *
 * <p>Gives the same for the same record at any time: on what it gave when a record was written
 * rests what is removed when it is replaced. Whoever changes what it gives changes the {@linkplain
 * Index.Builder#version version} of the definition.
 *
 * <p>If it throws anything, the write of the record throws {@link ExtractorException}, and nothing
 * is written. What it returns is copied, so it may use its arrays again.
 *
 * <p>Thread rule: called by many threads at once, the store's own among them, and with records
 * locked: it must not block, nor use the store.
 */
@FunctionalInterface
public interface KeyExtractor {
  /**
   * {@return the index keys of a record: none, one or many, in any order; what comes twice counts
   * once}
   *
   * @param key the record's key in the primary tree; not to be changed
   * @param value the record; not to be changed
   */
  Collection<byte[]> keys(byte[] key, byte[] value);
}
