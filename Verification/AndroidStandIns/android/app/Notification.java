package android.app;

import android.graphics.Bitmap;
import java.util.HashMap;
import java.util.Map;

/** What it was built of, under the names of the builder's methods. */
public class Notification {
    public final Map<String, Object> built = new HashMap<>();

    public Bitmap picture() { return (Bitmap) built.get("bigPicture"); }
}
