package io.isobardb.lsm.component;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.openjdk.jcstress.JCStress;
import org.openjdk.jcstress.Options;

/** The short form of {@code .ci/jcstress}: all its tests, in one kind of JVM, for a moment. */
class PublicationTest {
  @Test
  void noReaderSeesHalfAnEntryOrHalfAPage() throws Exception {
    String[] arguments = {
      "-m",
      "quick",
      "-f",
      "1",
      "-fsm",
      "1",
      "-iters",
      "1",
      "-time",
      "200",
      "-sc",
      "false",
      "-jvmArgs",
      "-Xmx256m -XX:MaxDirectMemorySize=512m",
      "-r",
      "jcstress-results"
    };
    Options options = new Options(arguments);
    assertTrue(options.parse());
    JCStress jcstress = new JCStress(options);
    assertEquals(2, jcstress.getTests().size());
    // Throws for what is forbidden, and for errors.
    jcstress.run();
  }
}
