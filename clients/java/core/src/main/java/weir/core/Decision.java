package weir.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What all limits of a key say together.
 *
 * @param allowed whether all grant
 * @param index of the deciding limit; -1 where there is none
 * @param views what each limit says
 * @param specs the limits
 */
public record Decision(boolean allowed, int index, List<View> views, List<Spec> specs) {
  static Decision without(boolean allowed) {
    return new Decision(allowed, -1, List.of(), List.of());
  }

  /** A denial's longest wait decides; else the least that is left. The first of equals. */
  static Decision of(List<View> views, List<Spec> specs) {
    int chosen = -1;
    for (int index = 0; index < views.size(); index++) {
      if (chosen < 0 || decidesOver(views.get(index), views.get(chosen))) {
        chosen = index;
      }
    }
    return new Decision(views.stream().allMatch(View::allowed), chosen, views, specs);
  }

  /** By this limit, whatever its state says. */
  Decision denied(int by, double retryMs) {
    List<View> denied = new ArrayList<>(views);
    denied.set(by, views.get(by).denied(retryMs));
    return new Decision(false, by, denied, specs);
  }

  private static boolean decidesOver(View view, View other) {
    if (view.allowed() != other.allowed()) {
      return !view.allowed();
    }
    return view.allowed() ? view.remaining() < other.remaining() : view.waitMs() > other.waitMs();
  }

  /**
   * The view of the deciding limit.
   *
   * @return nothing where no limit decides
   */
  public Optional<View> deciding() {
    return index < 0 ? Optional.empty() : Optional.of(views.get(index));
  }
}
