package io.isobardb.examples;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.recipe.Counters;
import io.isobardb.lsm.recipe.Queue;
import io.isobardb.lsm.typed.Codec;
import io.isobardb.lsm.typed.KeyCodec;
import java.nio.file.Path;
import java.util.stream.IntStream;

/** A queue with some consumers: each job is counted once, by the one that does it. */
public final class Jobs {
  private Jobs() {}

  record Mail(String to, String text) {}

  /** The argument is the directory of the store. */
  public static void main(String[] args) {
    // begin
    try (Store store = Store.open(Path.of(args[0]))) {
      Queue<Mail> mails = Queue.open(store, "mails", Codec.of(Mail.class));
      Counters<String> sent = Counters.open(store, "sent", KeyCodec.ofString());
      for (int i = 0; i < 1000; i++) {
        mails.add(new Mail(i % 2 == 0 ? "ada" : "grace", "number " + i));
      }
      IntStream.range(0, 4)
          .parallel()
          .forEach(
              consumer -> {
                while (mails.work((transaction, mail) -> sent.add(transaction, mail.to(), 1))) {}
              });
      System.out.println(sent.get("ada") + ", " + sent.get("grace") + ", left " + mails.size());
    }
    // end
  }
}
