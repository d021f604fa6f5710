int boot_stage(int stage) {
    return stage + 1;
}
