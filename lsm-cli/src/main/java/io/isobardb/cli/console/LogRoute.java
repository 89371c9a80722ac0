package io.isobardb.cli.console;

import java.nio.file.Path;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.appender.ConsoleAppender;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.builder.api.AppenderComponentBuilder;
import org.apache.logging.log4j.core.config.builder.api.ConfigurationBuilder;
import org.apache.logging.log4j.core.config.builder.api.ConfigurationBuilderFactory;
import org.apache.logging.log4j.core.config.builder.api.LayoutComponentBuilder;
import org.apache.logging.log4j.core.config.builder.impl.BuiltConfiguration;
import org.jspecify.annotations.Nullable;

/**
 * Has Log4j take what {@code java.util.logging} is told, and with it all that goes to {@code
 * System.Logger}. Only a process that is asked for a log loads this class.
 */
final class LogRoute {
  private static final String APPENDER = "log";

  private LogRoute() {}

  /** Before the first logger is looked up; later it has no effect on it. */
  static void install(LogTarget target, boolean json) {
    System.setProperty("java.util.logging.manager", "org.apache.logging.log4j.jul.LogManager");
    ConfigurationBuilder<BuiltConfiguration> builder =
        ConfigurationBuilderFactory.newConfigurationBuilder();
    builder.setStatusLevel(Level.ERROR);
    // Each line is written when it is logged, so there is nothing to be done at the end.
    builder.setShutdownHook("disable");
    builder.add(appender(builder, target.file()).add(layout(builder, json)));
    builder.add(
        builder.newRootLogger(level(target.threshold())).add(builder.newAppenderRef(APPENDER)));
    Configurator.initialize(builder.build());
  }

  private static AppenderComponentBuilder appender(
      ConfigurationBuilder<BuiltConfiguration> builder, @Nullable Path file) {
    return file == null
        ? builder
            .newAppender(APPENDER, "Console")
            .addAttribute("target", ConsoleAppender.Target.SYSTEM_ERR)
        : builder
            .newAppender(APPENDER, "File")
            .addAttribute("fileName", file.toString())
            .addAttribute("append", true);
  }

  private static LayoutComponentBuilder layout(
      ConfigurationBuilder<BuiltConfiguration> builder, boolean json) {
    return json
        ? builder
            .newLayout("JsonTemplateLayout")
            .addAttribute("eventTemplateUri", "classpath:EcsLayout.json")
        : builder
            .newLayout("PatternLayout")
            .addAttribute(
                "pattern", "%d{ISO8601_OFFSET_DATE_TIME_HHCMM} %level %logger: %msg%n%throwable");
  }

  private static Level level(Messages.Threshold threshold) {
    return threshold == Messages.Threshold.warning ? Level.WARN : Level.valueOf(threshold.name());
  }
}
