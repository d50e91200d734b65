package com.google.android.gms.tasks;

public interface OnSuccessListener<Result> {
    void onSuccess(Result result);
}
