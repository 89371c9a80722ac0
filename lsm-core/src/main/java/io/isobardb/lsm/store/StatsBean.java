package io.isobardb.lsm.store;

import io.isobardb.lsm.observe.Figure;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.ImmutableDescriptor;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanOperationInfo;
import javax.management.ReflectionException;
import org.jspecify.annotations.Nullable;

/**
 * Statistics seen by JMX: each {@link Figure} is an attribute, with a value such as an MXBean has.
 *
 * <p>Thread rule: all methods may be called by any thread.
 *
 * @param <S> the statistics
 */
class StatsBean<S> implements DynamicMBean {
  private final String text;
  private final Supplier<S> stats;
  private final Map<String, Figure<S>> figures = new LinkedHashMap<>();

  /**
   * @param text what the bean is
   * @param stats gives what the figures are read from
   */
  StatsBean(String text, List<Figure<S>> figures, Supplier<S> stats) {
    this.text = text;
    this.stats = stats;
    figures.forEach(figure -> this.figures.put(figure.attribute(), figure));
  }

  @Override
  public @Nullable Object getAttribute(String name) throws AttributeNotFoundException {
    Figure<S> figure = figures.get(name);
    if (figure == null) {
      throw new AttributeNotFoundException("there is no attribute " + name);
    }
    return OpenValues.of(figure.of(stats.get()));
  }

  @Override
  public final AttributeList getAttributes(String[] names) {
    AttributeList found = new AttributeList();
    for (String name : names) {
      try {
        found.add(new Attribute(name, getAttribute(name)));
      } catch (AttributeNotFoundException e) {
        // By the contract of this call it is left out.
      }
    }
    return found;
  }

  @Override
  public final void setAttribute(Attribute attribute) throws AttributeNotFoundException {
    throw new AttributeNotFoundException(attribute.getName() + " can't be set");
  }

  @Override
  public final AttributeList setAttributes(AttributeList attributes) {
    return new AttributeList();
  }

  @Override
  public Object invoke(String operation, Object[] arguments, String[] types)
      throws ReflectionException {
    throw new ReflectionException(new NoSuchMethodException(operation));
  }

  @Override
  public MBeanInfo getMBeanInfo() {
    return info(List.of(), new MBeanOperationInfo[0]);
  }

  /**
   * A description of the bean.
   *
   * @param others attributes that are no figures
   */
  final MBeanInfo info(List<MBeanAttributeInfo> others, MBeanOperationInfo[] operations) {
    List<MBeanAttributeInfo> attributes = new ArrayList<>(others);
    figures.values().forEach(figure -> attributes.add(OpenValues.attribute(figure)));
    return new MBeanInfo(
        getClass().getName(),
        text,
        attributes.toArray(new MBeanAttributeInfo[0]),
        null,
        operations,
        null,
        new ImmutableDescriptor("immutableInfo=true", "mxbean=true"));
  }
}
