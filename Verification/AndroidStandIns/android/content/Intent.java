package android.content;

import java.util.HashMap;
import java.util.Map;

public class Intent {
    private final Map<String, String> extras = new HashMap<>();

    public Intent() {}

    public Intent(Context context, Class<?> type) {}

    public Intent putExtra(String name, String value) {
        extras.put(name, value);
        return this;
    }

    public String getStringExtra(String name) { return extras.get(name); }
}
