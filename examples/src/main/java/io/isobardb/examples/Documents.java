package io.isobardb.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.dataset.Dataset;
import io.isobardb.lsm.dataset.DatasetOptions;
import io.isobardb.lsm.dataset.DuplicateKeyException;
import io.isobardb.lsm.dataset.Index;
import io.isobardb.lsm.dataset.IndexCursor;
import io.isobardb.lsm.dataset.IndexEntry;
import io.isobardb.lsm.dataset.IndexRange;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Documents that are found by their contents.
 *
 * <p>Shows a dataset: a primary tree by identifier, an index over one field, one over a field with
 * many values, and a unique one. Each write keeps all of them in step.
 */
public final class Documents {
  private Documents() {}

  /** A document; stored as lines of text. */
  record Person(String id, String email, String city, List<String> skills) {
    byte[] key() {
      return id.getBytes(UTF_8);
    }

    byte[] value() {
      return String.join("\n", email, city, String.join(",", skills)).getBytes(UTF_8);
    }

    static Person of(byte[] key, byte[] value) {
      String[] lines = new String(value, UTF_8).split("\n", -1);
      return new Person(
          new String(key, UTF_8), lines[0], lines[1], Arrays.asList(lines[2].split(",")));
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  static Dataset open(Store store) {
    Index byEmail =
        Index.builder("by-email")
            .unique(true)
            .key((key, value) -> List.of(bytes(Person.of(key, value).email())))
            .build();
    Index byCity =
        Index.builder("by-city")
            .key((key, value) -> List.of(bytes(Person.of(key, value).city())))
            .build();
    Index bySkill =
        Index.builder("by-skill")
            .key(
                (key, value) ->
                    Person.of(key, value).skills().stream().map(Documents::bytes).toList())
            .build();
    return Dataset.open(
        store,
        "people",
        DatasetOptions.builder().index(byEmail).index(byCity).index(bySkill).build());
  }

  /** The identifiers of the documents that an index has under a key. */
  static List<String> find(Dataset people, String index, String key) {
    List<String> found = new ArrayList<>();
    for (IndexEntry entry : people.find(index, bytes(key))) {
      found.add(new String(entry.key(), UTF_8));
    }
    return found;
  }

  private static void put(Dataset people, Person person) {
    people.put(person.key(), person.value());
  }

  /** The argument is the directory of the store. */
  public static void main(String[] args) {
    StoreOptions options = StoreOptions.builder().memoryBudget(16 << 20).build();
    try (Store store = Store.open(Path.of(args[0]), options)) {
      Dataset people = open(store);
      put(people, new Person("1", "ada@example.org", "London", List.of("maths", "code")));
      put(people, new Person("2", "grace@example.org", "New York", List.of("code", "navy")));
      put(people, new Person("3", "emmy@example.org", "Erlangen", List.of("maths")));
      System.out.println("code: " + find(people, "by-skill", "code"));

      // Moving changes the document and its entry in the index at once.
      put(people, new Person("3", "emmy@example.org", "Bryn Mawr", List.of("maths")));
      System.out.println("Erlangen: " + find(people, "by-city", "Erlangen"));

      try (IndexCursor cursor =
          people.cursor("by-city", IndexRange.between(bytes("A"), bytes("M")))) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          System.out.println(
              new String(cursor.indexKey(), UTF_8)
                  + ": "
                  + Person.of(cursor.key(), cursor.value()).email());
        }
      }
      try {
        put(people, new Person("4", "ada@example.org", "Paris", List.of()));
      } catch (DuplicateKeyException e) {
        System.out.println(
            new String(e.indexKey(), UTF_8) + " belongs to " + new String(e.holder(), UTF_8));
      }
    }
  }
}
