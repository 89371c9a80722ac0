package io.isobardb.lsm.typed;

import io.isobardb.lsm.dataset.Maintenance;
import java.util.Collection;
import java.util.Objects;
import java.util.function.Function;

/**
 * The definition of a secondary index of a {@link TypedDataset}; immutable.
 *
 * @param name 1 to 60 letters, digits, {@code -} and {@code _}
 * @param keys the codec of index keys
 * @param extractor the index keys of a record: none, one or many; always the same for the same
 *     record. It must not block, use the store, nor change the record
 * @param unique whether an index key may belong to one record at most
 * @param maintenance how the index is kept in step
 * @param version to be changed whenever the extractor or the codec gives other bytes than before
 * @param <V> the type of records
 * @param <I> the type of index keys
 */
public record TypedIndex<V, I>(
    String name,
    KeyCodec<I> keys,
    Function<? super V, ? extends Collection<? extends I>> extractor,
    boolean unique,
    Maintenance maintenance,
    int version) {
  /**
   * Checks that nothing is missing.
   *
   * @param name 1 to 60 letters, digits, {@code -} and {@code _}
   * @param keys the codec of index keys
   * @param extractor the index keys of a record
   * @param unique whether an index key may belong to one record at most
   * @param maintenance how the index is kept in step
   * @param version of the extractor and the codec
   */
  public TypedIndex {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(keys, "keys");
    Objects.requireNonNull(extractor, "extractor");
    Objects.requireNonNull(maintenance, "maintenance");
  }

  /**
   * {@return an eager index that is not unique, of version 1}
   *
   * @param <V> the type of records
   * @param <I> the type of index keys
   * @param name its name
   * @param keys the codec of index keys
   * @param extractor gives the index keys of a record
   */
  public static <V, I> TypedIndex<V, I> of(
      String name,
      KeyCodec<I> keys,
      Function<? super V, ? extends Collection<? extends I>> extractor) {
    return new TypedIndex<>(name, keys, extractor, false, Maintenance.EAGER, 1);
  }

  /** {@return this index, but unique} */
  public TypedIndex<V, I> asUnique() {
    return new TypedIndex<>(name, keys, extractor, true, maintenance, version);
  }

  /**
   * {@return this index, maintained otherwise}
   *
   * @param how how it is kept in step
   */
  public TypedIndex<V, I> maintained(Maintenance how) {
    return new TypedIndex<>(name, keys, extractor, unique, how, version);
  }

  /**
   * {@return this index in another version}
   *
   * @param number the new version
   */
  public TypedIndex<V, I> withVersion(int number) {
    return new TypedIndex<>(name, keys, extractor, unique, maintenance, number);
  }
}
