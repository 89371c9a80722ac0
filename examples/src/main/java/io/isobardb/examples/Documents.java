package io.isobardb.examples;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.dataset.DuplicateKeyException;
import io.isobardb.lsm.typed.Codec;
import io.isobardb.lsm.typed.KeyCodec;
import io.isobardb.lsm.typed.KeyRange;
import io.isobardb.lsm.typed.TypedDataset;
import io.isobardb.lsm.typed.TypedIndex;
import java.nio.file.Path;
import java.util.List;

/**
 * Documents that are found by their contents: by one field, by one with many values, and by one
 * that is unique. Each write keeps all indexes in step.
 */
public final class Documents {
  private Documents() {}

  record Person(String email, String city, List<String> skills) {
    List<String> emails() {
      return List.of(email);
    }

    List<String> cities() {
      return List.of(city);
    }
  }

  private static final TypedIndex<Person, String> BY_EMAIL =
      TypedIndex.of("by-email", KeyCodec.ofString(), Person::emails).asUnique();
  private static final TypedIndex<Person, String> BY_CITY =
      TypedIndex.of("by-city", KeyCodec.ofString(), Person::cities);
  private static final TypedIndex<Person, String> BY_SKILL =
      TypedIndex.of("by-skill", KeyCodec.ofString(), Person::skills);

  /** The argument is the directory of the store. */
  public static void main(String[] args) {
    Person ada = new Person("ada@example.org", "London", List.of("maths", "code"));
    Person grace = new Person("grace@example.org", "New York", List.of("code", "navy"));
    // begin
    try (Store store = Store.open(Path.of(args[0]))) {
      Codec<Person> codec = Codec.of(Person.class);
      TypedDataset<Long, Person> people =
          TypedDataset.open(store, "people", KeyCodec.ofLong(), codec, BY_EMAIL, BY_CITY, BY_SKILL);
      people.put(1L, ada);
      people.put(2L, grace);
      System.out.println("code: " + people.find(BY_SKILL, "code").size());
      try (var inOrder = people.entries(BY_CITY, KeyRange.before("M"))) {
        inOrder.forEach(System.out::println);
      }
      people.put(3L, ada);
    } catch (DuplicateKeyException e) {
      System.out.println("a second ada: " + e.getMessage());
    }
    // end
  }
}
