/**
 * Reports to look at: pages of HTML that need no other file, and pictures in SVG.
 *
 * <p>Owns how charts, tables and findings look, at any width and in light and dark. Leaves what
 * they say to the commands.
 */
@NullMarked
package io.isobardb.cli.report;

import org.jspecify.annotations.NullMarked;
