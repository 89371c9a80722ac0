package io.isobardb.lsm.dataset;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The definition of a secondary index; immutable.
 *
 * <pre>{@code
 * Index byYear =
 *     Index.builder("year")
 *         .key((key, person) -> List.of(year(person)))
 *         .maintenance(Maintenance.VALIDATION) // writes do not read the old record
 *         .build();
 * Index byEmail =
 *     Index.builder("email").key((key, person) -> List.of(emailOf(person))).unique(true).build();
 * Dataset people =
 *     Dataset.open(store, "people", DatasetOptions.builder().index(byYear).index(byEmail).build());
 * }</pre>
 *
 * <p>Index keys are ordered as unsigned bytes, shorter first; records with the same index key by
 * their primary keys, as unsigned bytes, too, whatever the order of the primary tree.
 */
public final class Index {
  private static final int MAX_NAME = 60;

  private final String name;
  private final KeyExtractor extractor;
  private final boolean unique;
  private final Maintenance maintenance;
  private final int version;

  private Index(Builder builder, KeyExtractor extractor) {
    this.name = builder.name;
    this.extractor = extractor;
    this.unique = builder.unique;
    this.maintenance = builder.maintenance;
    this.version = builder.version;
  }

  /**
   * Begins the definition of an index.
   *
   * @param name 1 to 60 letters, digits, {@code -} and {@code _}
   * @return a builder
   */
  public static Builder builder(String name) {
    return new Builder(name);
  }

  /** {@return its name within the dataset} */
  public String name() {
    return name;
  }

  /**
   * Makes the index keys of a record.
   *
   * @return what makes the index keys of a record
   */
  public KeyExtractor extractor() {
    return extractor;
  }

  /** {@return whether two records may not have the same index key} */
  public boolean unique() {
    return unique;
  }

  /** {@return when writes keep it in step} */
  public Maintenance maintenance() {
    return maintenance;
  }

  /** {@return the version of the extractor; an index of another version is built anew} */
  public int version() {
    return version;
  }

  @Override
  public String toString() {
    return name + " (" + described() + ")";
  }

  /** All that is stored of a definition but the name. */
  String described() {
    return (unique ? "unique, " : "not unique, ") + maintenance + ", version " + version;
  }

  /** Collects a definition; what is not set has its default. Thread rule: one thread at a time. */
  public static final class Builder {
    private final String name;
    private @Nullable KeyExtractor extractor;
    private boolean unique;
    private Maintenance maintenance = Maintenance.EAGER;
    private int version = 1;

    private Builder(String name) {
      if (!Objects.requireNonNull(name, "name").matches("[A-Za-z0-9_-]{1," + MAX_NAME + "}")) {
        throw new IllegalArgumentException(
            "an index's name must be 1 to "
                + MAX_NAME
                + " letters, digits, '-' and '_', not '"
                + name
                + "'");
      }
      this.name = name;
    }

    /**
     * Where the index keys come from; must be set.
     *
     * @param value the new value
     * @return this
     */
    public Builder key(KeyExtractor value) {
      extractor = Objects.requireNonNull(value, "key");
      return this;
    }

    /**
     * Whether an index key may belong to one record at most; default no.
     *
     * @param value the new value
     * @return this
     */
    public Builder unique(boolean value) {
      unique = value;
      return this;
    }

    /**
     * Default {@link Maintenance#EAGER}.
     *
     * @param value the new value
     * @return this
     */
    public Builder maintenance(Maintenance value) {
      maintenance = Objects.requireNonNull(value, "maintenance");
      return this;
    }

    /**
     * A number to be changed whenever the extractor gives other keys than before; default 1. It is
     * stored, and compared when the dataset is opened.
     *
     * @param value the new value
     * @return this
     */
    public Builder version(int value) {
      version = value;
      return this;
    }

    /**
     * {@return the definition}
     *
     * @throws IllegalArgumentException if it has no extractor
     */
    public Index build() {
      KeyExtractor given = extractor;
      if (given == null) {
        throw new IllegalArgumentException(
            "index '" + name + "' has no extractor: say with key(...) what its keys are");
      }
      return new Index(this, given);
    }
  }
}
