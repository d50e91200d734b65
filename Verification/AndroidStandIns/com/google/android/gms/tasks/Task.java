package com.google.android.gms.tasks;

/** Abstract in Play services; here it has succeeded already. */
public class Task<Result> {
    private final Result result;

    public Task(Result result) { this.result = result; }

    public Task<Result> addOnSuccessListener(OnSuccessListener<? super Result> listener) {
        listener.onSuccess(result);
        return this;
    }
}
