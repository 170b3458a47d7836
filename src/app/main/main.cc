#include "app/commands.h"

int main(int argc, char** argv) { return hourfold::run_cli(argc, argv); }
