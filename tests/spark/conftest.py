"""One local Spark session for the tests of this folder; without PySpark or Java, they are skipped."""

import os
import shutil
import sys
import warnings

import pytest


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'ir-graded[spark]'")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, and there is none on the path")
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        # Warnings of PySpark itself, about versions of pandas.
        warnings.simplefilter("ignore")
        # Otherwise workers use the python3 of the PATH, which may differ from the Python of these tests.
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
        # Java cannot open a file whose name the locale cannot encode.
        patch.setenv("LC_ALL", "C.UTF-8")
        from pyspark.sql import SparkSession

        session = (
            SparkSession.builder.master("local[2,2]")  # a task may fail once
            .appName("ir_graded")
            .config("spark.ui.enabled", "false")
            # Most code runs too seldom here to repay the second compiler of Java.
            .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
            .config("spark.sql.shuffle.partitions", "4")
            # Otherwise small data are joined into one partition with all topics.
            .config("spark.sql.adaptive.coalescePartitions.enabled", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
